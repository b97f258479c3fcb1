// SPDX-License-Identifier: Apache-2.0
// The golden products against triple loops over 128-bit integers that share nothing with them but decode and
// fixed_to_fp32.
#include "narrowgauge/mac/gemm.hpp"

#include <gtest/gtest.h>

#include <string>

#include "narrowgauge/engines/engine.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "narrowgauge/mac/right_operand.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

__extension__ using Int128 = __int128;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

/// The unit of products of any elements of 8 bits: of E5M2FNUZ twice the smallest.
constexpr int unit8 = -34;

/// Elements first ... last - 1 of 8-bit vectors in units of 2^unit8, and what an integer does not hold.
Int128 products8(const QuantizedMatrix& a, std::size_t i, const QuantizedMatrix& b, std::size_t j, std::size_t first,
                 std::size_t last, SumFlags& flags) {
  Int128 sum = 0;
  for (std::size_t k = first; k < last; ++k) {
    const double u = decode(a.element, a.codes[i * a.k_padded + k]), v = decode(b.element, b.codes[j * b.k_padded + k]);
    const double product = u * v;
    if (std::isfinite(u) && std::isfinite(v)) {
      sum += Int128{static_cast<std::int64_t>(u * 0x1p17)} * static_cast<std::int64_t>(v * 0x1p17);
    } else {
      flags |= {std::isnan(product), product == INFINITY, product == -INFINITY};
    }
  }
  return sum;
}

float reference(const QuantizedMatrix& a, std::size_t i, const QuantizedMatrix& b, std::size_t j) {
  const std::uint8_t *x = a.codes.data() + i * a.k_padded, *y = b.codes.data() + j * b.k_padded;
  const std::uint8_t *sx = a.scales.data() + i * a.blocks(), *sy = b.scales.data() + j * b.blocks();
  Int128 sum = 0;
  SumFlags flags;
  switch (a.scheme) {
    case Scheme::nvfp4:
      for (std::size_t k = 0; k < a.k; ++k) {
        const double s = decode(Format::ue4m3, sx[k / 16]), t = decode(Format::ue4m3, sy[k / 16]);
        flags.nan |= std::isnan(s) || std::isnan(t);
        if (flags.nan) continue;
        sum += Int128{static_cast<int>(decode(Format::e2m1, x[k]) * 2)} *
               static_cast<int>(decode(Format::e2m1, y[k]) * 2) * static_cast<int>(s * 512) * static_cast<int>(t * 512);
      }
      return fixed_to_fp32(sum, -20, flags);
    case Scheme::mxfp4: {
      float total = 0;
      for (std::size_t block = 0; block < a.blocks(); ++block) {
        if (sx[block] == 0xFF || sy[block] == 0xFF) return std::bit_cast<float>(0x7FC00000);
        int dot = 0;
        for (std::size_t k = block * 32; k < (block + 1) * 32; ++k) {
          dot += static_cast<int>(decode(Format::e2m1, x[k]) * 2) * static_cast<int>(decode(Format::e2m1, y[k]) * 2);
        }
        const std::uint32_t term = round_pack(desc(Format::fp32), dot < 0, sx[block] + sy[block] - 254 - 2,
                                              static_cast<std::uint64_t>(std::abs(dot)), {.overflow = Overflow::ieee});
        total = total + std::bit_cast<float>(term);
      }
      return std::isnan(total) ? std::bit_cast<float>(0x7FC00000) : total;
    }
    case Scheme::fp8: {
      if (!has_blocked_scales(a, b)) return fixed_to_fp32(products8(a, i, b, j, 0, a.k, flags), unit8, flags);
      float total = 0;
      for (std::size_t first = 0; first < a.k; first += 128) {
        SumFlags here;
        const Int128 exact = products8(a, i, b, j, first, std::min(first + 128, a.k), here);
        total += fixed_to_fp32(exact, unit8, here) * (a.fp32_scale(i, first) * b.fp32_scale(j, first));
      }
      return std::isnan(total) ? std::bit_cast<float>(0x7FC00000) : total;
    }
    case Scheme::mxfp6:
    case Scheme::mxfp8:
    case Scheme::mxint8: {
      float total = 0;
      for (std::size_t block = 0; block < a.blocks(); ++block) {
        SumFlags here{.nan = sx[block] == 0xFF || sy[block] == 0xFF};
        const Int128 exact = products8(a, i, b, j, block * 32, (block + 1) * 32, here);
        total += fixed_to_fp32(exact, unit8 + sx[block] + sy[block] - 254, here);
      }
      return std::isnan(total) ? std::bit_cast<float>(0x7FC00000) : total;
    }
    case Scheme::luq:
      break;
    case Scheme::int4:
      for (std::size_t k = 0; k < a.k; ++k) {
        const int integer = x[k] < 8 ? x[k] : x[k] - 16;
        sum += Int128{integer} * static_cast<int>(decode(Format::e3m0, y[k]));
      }
      return fixed_to_fp32(sum, 0, flags);
  }
  return 0;
}

void expect_reference(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads = 2) {
  const std::vector<float> sums = gemm_sums(a, b, threads);
  ASSERT_EQ(sums.size(), a.rows * b.rows);
  int errors = 0;
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.rows && errors < 20; ++j) {
      const float got = sums[i * b.rows + j], expected = reference(a, i, b, j);
      if (bits(got) == bits(expected)) continue;
      ++errors;
      ADD_FAILURE() << "row " << i << " column " << j << ": got " << got << ", expected " << expected;
    }
  }
}

/// All codes equally likely; NaNs and infinities only if asked for.
QuantizedMatrix random_matrix(Scheme scheme, Format element, std::size_t rows, std::size_t k, unsigned seed,
                              bool specials = false) {
  std::mt19937 generator(seed);
  const FormatDesc& f = desc(element);
  const std::size_t block = block_size(scheme);
  QuantizedMatrix q{.scheme = scheme,
                    .element = element,
                    .rows = rows,
                    .k = k,
                    .k_padded = (k + block - 1) / block * block,
                    .codes = {},
                    .scales = {}};
  q.codes.resize(rows * q.k_padded);
  for (std::size_t i = 0; i < q.codes.size(); ++i) {
    if (i % q.k_padded >= k) continue;
    do q.codes[i] = static_cast<std::uint8_t>(generator() & (f.sign_mask() | f.payload_mask()));
    while (!(specials && generator() % 64 == 0) && (f.is_nan(q.codes[i]) || f.is_inf(q.codes[i])));
  }
  if (!has_block_scales(scheme)) return q;
  q.scales.resize(rows * q.blocks());
  for (auto& s : q.scales) {
    do s = static_cast<std::uint8_t>(generator());  // UE4M3's unused top bit included
    while (!(specials && generator() % 16 == 0) &&
           desc(scheme == Scheme::nvfp4 ? Format::ue4m3 : Format::e8m0).is_nan(s));
  }
  return q;
}

std::uint8_t negative_of(const FormatDesc& f, std::uint8_t code) {
  return static_cast<std::uint8_t>(f.with_sign(!f.is_negative(code), f.magnitude(code)));
}

class Gemm : public testing::TestWithParam<GemmFormat> {
 protected:
  QuantizedMatrix left(std::size_t rows, std::size_t k, unsigned seed, bool specials = false) const {
    return random_matrix(GetParam().a_scheme(), GetParam().a, rows, k, seed, specials);
  }
  QuantizedMatrix right(std::size_t rows, std::size_t k, unsigned seed, bool specials = false) const {
    return random_matrix(GetParam().b_scheme(), GetParam().b, rows, k, seed, specials);
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, Gemm, testing::ValuesIn(gemm_formats),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Gemm, RaggedShapes) {
  unsigned seed = 51;
  for (const auto& [m, n, k] : std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>{{1, 1, 1},
                                                                                              {1, 1, 16},
                                                                                              {3, 33, 17},
                                                                                              {5, 31, 31},
                                                                                              {4, 32, 64},
                                                                                              {7, 65, 300},
                                                                                              {70, 40, 1025},
                                                                                              {2, 300, 257},
                                                                                              {65, 257, 33}}) {
    SCOPED_TRACE("m " + std::to_string(m) + " n " + std::to_string(n) + " k " + std::to_string(k) + " seed " +
                 std::to_string(seed));
    expect_reference(left(m, k, seed), right(n, k, seed + 1));
    seed += 2;
  }
}

TEST_P(Gemm, NanAndInfinity) {
  for (unsigned seed = 61; seed < 67; ++seed) {
    for (const std::size_t k : {std::size_t{3}, std::size_t{40}}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const auto a = left(20, k, seed, true), b = right(50, k, seed + 100, true);
      expect_reference(a, b);
      const std::vector<float> sums = gemm_sums(a, b);
      for (const float x : sums) {
        ASSERT_TRUE(!std::isnan(x) || bits(x) == 0x7FC00000U) << bits(x);
      }
    }
  }
}

TEST_P(Gemm, CancelsToPositiveZero) {
  auto a = left(6, 128, 71), b = right(34, 128, 72);
  const std::size_t block = std::max<std::size_t>(block_size(a.scheme), 16);  // neighbouring blocks cancel
  for (std::size_t i = 0; i < a.codes.size(); i += 2 * block) {
    for (std::size_t j = 0; j < block; ++j) a.codes[i + block + j] = a.codes[i + j];
  }
  for (std::size_t i = 0; i < b.codes.size(); i += 2 * block) {
    for (std::size_t j = 0; j < block; ++j) b.codes[i + block + j] = negative_of(desc(b.element), b.codes[i + j]);
  }
  for (auto* q : {&a, &b}) {
    for (std::size_t i = 0; i + 1 < q->scales.size(); i += 2) q->scales[i + 1] = q->scales[i];
  }
  expect_reference(a, b);
  const std::vector<float> sums = gemm_sums(a, b);
  if (!is_mx(a.scheme)) {
    for (const float x : sums) ASSERT_EQ(bits(x), 0U);
  }
}

TEST_P(Gemm, LargestOperandsAcrossEveryFlush) {
  const bool nv = GetParam().scheme == Scheme::nvfp4, mx = is_mx(GetParam().scheme);
  const std::size_t k = nv ? nvfp4_max_k : mx ? 4096 : (1 << 17) * 2 + 300;
  auto a = left(1, k, 81), b = right(2, k, 82);
  const auto fill = [](QuantizedMatrix& q, std::uint8_t scale) {
    std::fill(q.codes.begin(), q.codes.begin() + static_cast<std::ptrdiff_t>(q.k),
              static_cast<std::uint8_t>(desc(q.element).max_code()));
    std::fill(q.scales.begin(), q.scales.end(), scale);
  };
  fill(a, nv ? 0x7E : 0x80);
  fill(b, nv ? 0x7E : 0x80);
  for (std::size_t i = k; i < b.codes.size(); ++i) b.codes[i] ^= static_cast<std::uint8_t>(desc(b.element).sign_mask());
  expect_reference(a, b);
  // The same with a last element that only an exact sum sees.
  a.codes[k - 1] = b.codes[k - 1] = b.codes[2 * k - 1] = 1;
  expect_reference(a, b);
}

TEST_P(Gemm, NothingIsLostBehindLargePartialSums) {
  if (is_mx(GetParam().scheme)) GTEST_SKIP() << "sums are not exact";
  // The largest products, then a few of the smallest, then the largest with a minus sign: only the smallest remain.
  // Where the smallest ones come, the sum has passed 2^53 units, beyond which double drops them.
  const bool nv = GetParam().scheme == Scheme::nvfp4;
  const std::size_t half = nv ? 256 * 16 : 1 << 18, few = 3, apart = nv ? 16 : 1, k = 2 * half + few * apart;
  auto a = left(1, k, 83), b = right(1, k, 84);
  std::fill(a.scales.begin(), a.scales.end(), 0x7E);
  std::fill(b.scales.begin(), b.scales.end(), 0x7E);
  for (std::size_t i = 0; i < k; ++i) {
    const bool small = i >= half && i < half + few * apart;
    const std::uint32_t smallest = (i - half) % apart == 0;
    const std::uint32_t sign = i < half ? 0 : desc(b.element).sign_mask();
    a.codes[i] = static_cast<std::uint8_t>(small ? smallest : desc(a.element).max_code());
    b.codes[i] = static_cast<std::uint8_t>(small ? smallest : desc(b.element).max_code() | sign);
    if (nv && small) a.scales[i / 16] = b.scales[i / 16] = 1;
  }
  const double expected = few * decode(a.element, 1) * decode(b.element, 1) * (nv ? 0x1p-18 : 1.0);
  EXPECT_EQ(gemm_sums(a, b)[0], expected);
}

TEST_P(Gemm, QuantizedValuesAndEpilogue) {
  const std::size_t m = 9, n = 21, k = 77;
  const GemmFormat& f = GetParam();
  const auto a = quantize(test::normal_values(m * k, 91), m, k, Axis::rows, {.scheme = f.a_scheme(), .element = f.a});
  const auto b =
      quantize(test::normal_values(k * n, 92), k, n, Axis::columns, {.scheme = f.b_scheme(), .element = f.b});
  const std::vector<float> c = gemm(a, b), sums = gemm_sums(a, b);
  const std::vector<double> x = dequantize(a), y = dequantize(b);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double expected = 0, size = 0;
      for (std::size_t p = 0; p < k; ++p) {
        expected += x[i * k + p] * y[j * k + p];
        size += std::abs(x[i * k + p] * y[j * k + p]);
      }
      ASSERT_NEAR(c[i * n + j], expected, size * 1e-6);
      ASSERT_EQ(c[i * n + j], sums[i * n + j] * (a.tensor_scale * b.tensor_scale));
    }
  }
  const EngineResult result = make_model_engine(2)->gemm(a, b);
  EXPECT_EQ(result.c, c);
  EXPECT_EQ(result.products, m * n * k);
  EXPECT_EQ(result.cycles, 0U);
}

TEST_P(Gemm, ThreadsAndProgress) {
  const auto a = left(150, 64, 93), b = right(70, 64, 94);
  const std::vector<float> one = gemm_sums(a, b, 1);
  std::uint64_t last_done = 0, last_total = 0;
  const std::vector<float> three = gemm_sums(a, b, 3, [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GE(done, last_done);
    last_done = done;
    last_total = total;
  });
  for (std::size_t i = 0; i < one.size(); ++i) ASSERT_EQ(bits(one[i]), bits(three[i]));
  EXPECT_GT(last_total, 0U);
  EXPECT_EQ(last_done, last_total);
  struct Cancelled {};
  EXPECT_THROW(gemm_sums(a, b, 3, [](std::uint64_t, std::uint64_t) { throw Cancelled{}; }), Cancelled);
}

// Sums of nvfp4 run in 32 bits where the scales of a chunk allow, and in doubles elsewhere: scales close together and
// apart, just within and just beyond what 32 bits hold, all alike, few at all; odd numbers of blocks in the last chunk.
TEST(GemmNvfp4, EveryRangeOfScales) {
  using Choice = std::uint32_t (*)(std::uint32_t random, std::size_t block);
  const std::array<std::pair<const char*, Choice>, 12> choices{{
      {"the largest", [](std::uint32_t, std::size_t) { return 0x7EU; }},
      {"the least", [](std::uint32_t, std::size_t) { return 1U; }},
      {"zero", [](std::uint32_t, std::size_t) { return 0U; }},
      {"any", [](std::uint32_t r, std::size_t) { return r % 0x7F; }},
      {"subnormal", [](std::uint32_t r, std::size_t) { return r % 8; }},
      {"within three octaves", [](std::uint32_t r, std::size_t) { return 0x67 + r % 0x18; }},
      {"within four octaves", [](std::uint32_t r, std::size_t) { return 0x50 + r % 0x20; }},
      {"within six octaves", [](std::uint32_t r, std::size_t) { return 0x40 + r % 0x30; }},
      {"all but few 8 times the least", [](std::uint32_t r, std::size_t) { return r % 50 == 0 ? 0x5FU : 0x77U; }},
      {"all but few 16 times the least", [](std::uint32_t r, std::size_t) { return r % 50 == 0 ? 0x57U : 0x77U; }},
      {"one large, many small", [](std::uint32_t r, std::size_t block) { return block == 70 ? 0x7E : 0x10 + r % 8; }},
      {"few at all", [](std::uint32_t r, std::size_t) { return r % 20 == 0 ? r / 20 % 0x7F : 0; }},
  }};
  unsigned seed = 901;
  for (const bool full : {false, true}) {
    for (const auto& [left_name, left] : choices) {
      for (const auto& [right_name, right] : choices) {
        std::mt19937 generator(++seed);
        const std::size_t k = 16 * (129 + seed % 2);  // two chunks, and of the third one or two blocks
        auto a = random_matrix(Scheme::nvfp4, Format::e2m1, 3, k, seed),
             b = random_matrix(Scheme::nvfp4, Format::e2m1, 34, k, seed + 1);
        const auto fill = [&](QuantizedMatrix& q, Choice choose) {
          for (std::size_t i = 0; i < q.scales.size(); ++i) {
            const auto random = static_cast<std::uint32_t>(generator());
            q.scales[i] = static_cast<std::uint8_t>(choose(random & 0x7FFFFFFF, i % q.blocks()));
          }
          for (std::size_t i = 0; full && i < q.codes.size(); ++i) q.codes[i] |= 7;
          for (std::size_t i = 0; full && i < q.codes.size() / 2; ++i) q.codes[i] &= 7;
        };
        fill(a, left);
        fill(b, right);
        SCOPED_TRACE(std::string(left_name) + " by " + right_name + ", seed " + std::to_string(seed));
        expect_reference(a, b);
      }
    }
  }
}

TEST(GemmMxfp4, AddsBlocksInOrderWithFp32Rounding) {
  auto a = random_matrix(Scheme::mxfp4, Format::e2m1, 1, 96, 95), b = a;
  std::fill(a.codes.begin(), a.codes.end(), 0);
  std::fill(b.codes.begin(), b.codes.end(), 0);
  for (std::size_t block = 0; block < 3; ++block) a.codes[block * 32] = b.codes[block * 32] = 2;  // 1 * 1
  b.scales = {127, 127, 127};
  a.scales = {127 + 24, 127, 127};
  EXPECT_EQ(gemm_sums(a, b)[0], 0x1p24F) << "(2^24 + 1) + 1, each sum to even";
  a.scales = {127, 127, 127 + 24};
  EXPECT_EQ(gemm_sums(a, b)[0], 0x1.000002p24F) << "(1 + 1) + 2^24";
  a.scales = b.scales = {254, 254, 254};
  EXPECT_EQ(gemm_sums(a, b)[0], std::numeric_limits<float>::infinity());
  a.codes[32] = 10;  // -1
  EXPECT_EQ(bits(gemm_sums(a, b)[0]), 0x7FC00000U) << "infinity - infinity";
  a.scales = b.scales = {0, 0, 0};
  EXPECT_EQ(gemm_sums(a, b)[0], 0.0F) << "underflow";
}

TEST(GemmMxfp8, RoundsABlockOnceAndAddsInOrder) {
  QuantizedMatrix a{.scheme = Scheme::mxfp8,
                    .element = Format::e5m2,
                    .rows = 1,
                    .k = 96,
                    .k_padded = 96,
                    .codes = std::vector<std::uint8_t>(96),
                    .scales = {127, 127, 127}};
  QuantizedMatrix b = a;
  const auto set = [&](std::size_t k, std::uint8_t x, std::uint8_t y) {
    a.codes[k] = x;
    b.codes[k] = y;
  };
  const std::uint8_t one = 0x3C;
  for (const std::size_t k : {0, 32, 64}) set(k, one, one);
  a.scales = {127 + 24, 127, 127};
  EXPECT_EQ(gemm_sums(a, b)[0], 0x1p24F) << "(2^24 + 1) + 1, each sum to even";
  a.scales = {127, 127, 127 + 24};
  EXPECT_EQ(gemm_sums(a, b)[0], 0x1.000002p24F) << "(1 + 1) + 2^24";
  // 57344^2 - 57344^2 + 2^-32: 65 bits within a block.
  a.scales = {127, 127, 127};
  a.codes.assign(96, 0);
  set(3, 0x7B, 0x7B);
  set(9, 0xFB, 0x7B);
  set(31, 1, 1);
  EXPECT_EQ(gemm_sums(a, b)[0], 0x1p-32F);
  a.scales = b.scales = {66, 127, 127};  // 2^-32 * 2^-122 is half of the least subnormal: a tie, to even
  EXPECT_EQ(gemm_sums(a, b)[0], 0x1p-149F * 0);
  set(30, 1, 1);
  EXPECT_EQ(gemm_sums(a, b)[0], 0x1p-149F * 0);
  a.scales = b.scales = {69, 127, 127};  // 2 * 2^-32 * 2^-116
  EXPECT_EQ(gemm_sums(a, b)[0], 0x1p-147F);
  a.scales[1] = 0xFF;
  EXPECT_EQ(bits(gemm_sums(a, b)[0]), 0x7FC00000U) << "NaN scale of a block of zeros";
}

// Codes of two's complement are no magnitudes with a sign on top: kernels of AVX-512 took them for such (2026-11-29).
TEST(GemmMxint8, EveryCodeMeetsEveryCode) {
  QuantizedMatrix q{.scheme = Scheme::mxint8,
                    .element = Format::int8_mx,
                    .rows = 256,
                    .k = 1,
                    .k_padded = 32,
                    .codes = {},
                    .scales = {}};
  for (unsigned code = 0; code < 256; ++code) {
    q.codes.push_back(static_cast<std::uint8_t>(code));
    q.codes.insert(q.codes.end(), 31, 0);
    q.scales.push_back(127);
  }
  expect_reference(q, q);
}

TEST(GemmFp8, ScalesOfVectorsAndBlocks) {
  const std::array all{Scaling::tensor, Scaling::vector, Scaling::block_1x128, Scaling::block_128x128};
  unsigned seed = 101;
  for (const auto& [x, y] :
       {std::pair{Format::e4m3, Format::e4m3}, {Format::e5m2, Format::e5m2}, {Format::e4m3, Format::e5m2}}) {
    for (const Scaling left : all) {
      for (const Scaling right : all) {
        for (const std::size_t k : {1, 127, 128, 129, 300}) {
          const bool specials = k == 129;
          auto a = random_matrix(Scheme::fp8, x, 5, k, seed, specials),
               b = random_matrix(Scheme::fp8, y, 133, k, seed + 1, specials);
          std::mt19937 generator(seed += 2);
          for (auto* q : {&a, &b}) {
            q->scaling = q == &a ? left : right;
            q->fp32_scales.resize(q->scale_rows() * q->scale_columns());
            for (float& scale : q->fp32_scales) {
              scale = std::ldexp(1.0F + static_cast<float>(generator() % 1000) / 1024,
                                 static_cast<int>(generator() % 40) - 20);
            }
            if (q->scaling == Scaling::tensor) q->tensor_scale = 0.3F;
          }
          SCOPED_TRACE("k " + std::to_string(k) + " seed " + std::to_string(seed));
          expect_reference(a, b);
          const std::vector<float> c = gemm(a, b), sums = gemm_sums(a, b, 1);
          for (std::size_t i = 0; i < c.size(); ++i) {
            const EpilogueScales alpha = epilogue_scales(a.fp32_scale(i / b.rows, 0), b.fp32_scale(i % b.rows, 0));
            ASSERT_EQ(bits(c[i]), bits(is_blocked(left) || is_blocked(right) ? sums[i] : epilogue(sums[i], alpha)));
          }
        }
      }
    }
  }
}

// What the windows of the fast kernel see least on quantized values: elements in the lower windows only or in all,
// windows that begin lower because nothing is large, partial sums that fill 32 bits, chunks of k that are zero for
// most.
TEST(GemmFp8, EveryWindow) {
  using Choice = std::uint32_t (*)(std::uint32_t random, std::size_t k, std::uint32_t largest);
  const std::array<std::pair<const char*, Choice>, 9> choices{{
      {"the largest", [](std::uint32_t, std::size_t, std::uint32_t max) { return max; }},
      {"subnormal", [](std::uint32_t r, std::size_t, std::uint32_t) { return r % 4; }},
      {"the least", [](std::uint32_t, std::size_t, std::uint32_t) { return 1U; }},
      {"zero", [](std::uint32_t, std::size_t, std::uint32_t) { return 0U; }},
      {"any", [](std::uint32_t r, std::size_t, std::uint32_t max) { return r % (max + 1); }},
      {"the lower half", [](std::uint32_t r, std::size_t, std::uint32_t max) { return r % (max / 2); }},
      {"one large, many small",
       [](std::uint32_t r, std::size_t k, std::uint32_t max) { return k == 700 ? max : r % (max / 3); }},
      {"few small, many large",
       [](std::uint32_t r, std::size_t, std::uint32_t max) { return r % 50 == 0 ? r / 50 % (max / 3) : max - r % 3; }},
      {"few at all",
       [](std::uint32_t r, std::size_t, std::uint32_t max) { return r % 400 == 0 ? r / 400 % (max + 1) : 0; }},
  }};
  unsigned seed = 301;
  for (const auto& [x, y] :
       {std::pair{Format::e4m3, Format::e4m3}, {Format::e5m2, Format::e5m2}, {Format::e5m2, Format::e4m3}}) {
    for (const auto& [left_name, left] : choices) {
      for (const auto& [right_name, right] : choices) {
        std::mt19937 generator(++seed);
        const std::size_t k = 1025 + seed % 4;  // three chunks, the last of 1 to 4
        auto a = random_matrix(Scheme::fp8, x, 3, k, seed), b = random_matrix(Scheme::fp8, y, 34, k, seed + 1);
        const auto fill = [&](QuantizedMatrix& q, Choice choose, std::size_t same_sign) {  // of each 3 vectors
          const FormatDesc& f = desc(q.element);
          for (std::size_t i = 0; i < q.codes.size(); ++i) {
            const auto random = static_cast<std::uint32_t>(generator());
            const std::uint32_t sign = i / k % 3 < same_sign ? 0 : (random >> 31) * f.sign_mask();
            q.codes[i] = static_cast<std::uint8_t>(choose(random & 0x7FFFFFFF, i % k, f.max_code()) | sign);
          }
        };
        fill(a, left, 2);
        fill(b, right, 2);
        SCOPED_TRACE(std::string(left_name) + " by " + right_name + ", seed " + std::to_string(seed));
        expect_reference(a, b);
      }
    }
  }
}

// 2^e, perhaps an odd multiple of the last place that FP32 has there, half of that place, and perhaps a least product
// of either sign that decides the tie: in sums on both sides of where their upper part alone is rounded.
TEST(GemmFp8, TheLeastProductDecidesATie) {
  const auto code = [](int exponent) {  // of 2^exponent in E5M2
    return static_cast<std::uint8_t>(exponent < -14 ? 1 << (exponent + 16) : (exponent + 15) << 2);
  };
  for (int e = -7; e <= 33; ++e) {
    for (unsigned rest = 0; rest < 12; ++rest) {
      std::vector<std::uint8_t> x, y;
      const auto add = [&](int exponent, bool negative) {
        const int half = exponent >= 0 ? (exponent + 1) / 2 : exponent / 2;
        x.push_back(static_cast<std::uint8_t>(code(half) | (negative ? 0x80 : 0)));
        y.push_back(code(exponent - half));
      };
      const bool negative = rest % 2 != 0;
      for (int i = 0; i < 1 << std::max(0, e - 30); ++i) add(std::min(e, 30), negative);
      if (rest / 2 % 2 != 0) add(e - 23, negative);
      add(e - 24, negative);
      if (rest / 4 != 0) add(-32, rest / 4 == 2);
      QuantizedMatrix a;
      a.scheme = Scheme::fp8, a.element = Format::e5m2;
      a.rows = 1, a.k = a.k_padded = x.size();
      QuantizedMatrix b = a;
      a.codes = x, b.codes = y;
      ASSERT_EQ(bits(gemm_sums(a, b)[0]), bits(reference(a, 0, b, 0))) << "2^" << e << ", case " << rest;
    }
  }
}

TEST(GemmFp8, SpecialOperands) {
  const auto one = [](Format x_format, std::vector<std::uint8_t> x, Format y_format, std::vector<std::uint8_t> y) {
    QuantizedMatrix a{.scheme = Scheme::fp8,
                      .element = x_format,
                      .rows = 1,
                      .k = x.size(),
                      .k_padded = x.size(),
                      .codes = x,
                      .scales = {}};
    QuantizedMatrix b{.scheme = Scheme::fp8,
                      .element = y_format,
                      .rows = 1,
                      .k = y.size(),
                      .k_padded = y.size(),
                      .codes = y,
                      .scales = {}};
    return bits(gemm_sums(a, b)[0]);
  };
  const std::uint32_t nan = 0x7FC00000, pinf = 0x7F800000, ninf = 0xFF800000;
  const Format e4 = Format::e4m3, e5 = Format::e5m2;
  EXPECT_EQ(one(e4, {0x7F, 0}, e4, {0, 0}), nan) << "NaN * 0";
  EXPECT_EQ(one(e4, {0xFF, 0x38}, e4, {0x38, 0x38}), nan);
  EXPECT_EQ(one(e5, {0x7C}, e5, {0x3C}), pinf);
  EXPECT_EQ(one(e5, {0x7C}, e5, {0xBC}), ninf);
  EXPECT_EQ(one(e5, {0xFC}, e5, {0xFC}), pinf);
  EXPECT_EQ(one(e5, {0x7C}, e5, {0x80}), nan) << "infinity * -0";
  EXPECT_EQ(one(e5, {0x7C, 0x7C}, e5, {0x3C, 0xBC}), nan) << "infinity - infinity";
  EXPECT_EQ(one(e5, {0x7C, 0x7B}, e4, {0x38, 0xFE}), pinf);
  EXPECT_EQ(one(e5, {0x7D}, e5, {0x3C}), nan);
  EXPECT_EQ(one(e5, {0x7C}, e4, {0x7F}), nan);
}

TEST(Gemm, IntegerToFloatIsFixedToFp32) {
  std::mt19937_64 generator(96);
  for (int i = 0; i < 200000; ++i) {
    const auto value = static_cast<std::int64_t>(generator()) >> generator() % 64;
    for (const std::int64_t x : {value, value & ~std::int64_t{0xFFFF}, (value | 0x80) & ~std::int64_t{0x7F}}) {
      ASSERT_EQ(bits(std::ldexp(static_cast<float>(x), -20)), fixed_to_fp32_bits(x, -20)) << x;
      const Int128 wide = Int128{x} * (static_cast<std::int64_t>(generator()) >> generator() % 64);
      ASSERT_EQ(bits(std::ldexp(static_cast<float>(wide), -32)), fixed_to_fp32_bits(wide, -32)) << x;
    }
  }
}

TEST(Epilogue, RoundsOnceAndHasOneNan) {
  EXPECT_EQ(epilogue(3.0F, 0.1F), 3.0F * 0.1F);
  EXPECT_EQ(bits(epilogue(-std::numeric_limits<float>::quiet_NaN(), 1.0F)), 0x7FC00000U);
  EXPECT_EQ(bits(epilogue(std::numeric_limits<float>::infinity(), 0.0F)), 0x7FC00000U);
}

// Two tensors around 1e-19 in E5M2: fl(g_a g_b) is zero, the products are ordinary numbers.
TEST(Epilogue, TinyScalesKeepOrdinaryResults) {
  const std::size_t k = 64;
  for (const float magnitude : {1e-19F, 3e-19F, 1e18F}) {
    const auto scaled = [&](unsigned seed) {
      QuantizedMatrix q = random_matrix(Scheme::fp8, Format::e5m2, 3, k, seed, false);
      q.tensor_scale = magnitude / 57344.0F;
      return q;
    };
    const QuantizedMatrix a = scaled(1), b = scaled(2);
    const std::vector<float> c = gemm(a, b), sums = gemm_sums(a, b);
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double exact = double{sums[i]} * a.tensor_scale * b.tensor_scale;
      EXPECT_NE(c[i], 0) << magnitude << " result " << i;
      EXPECT_NEAR(c[i], exact, std::abs(exact) * 0x1p-22 + 0x1p-149) << magnitude << " result " << i;
    }
  }
  EXPECT_EQ(epilogue_scales(0.5F, 0.25F).first, 0.125F);
  EXPECT_EQ(epilogue_scales(0.5F, 0.25F).second, 1.0F);
  EXPECT_EQ(epilogue_scales(1e-30F, 1e-20F).first, 1e-30F);
  EXPECT_EQ(epilogue_scales(1e30F, 1e20F).second, 1e20F);
}

TEST(Gemm, ARightOperandServesManyProducts) {
  for (const GemmFormat& format : gemm_formats) {
    const auto b = random_matrix(format.b_scheme(), format.b, 37, 530, 95);
    const RightOperand kept(b);
    for (const std::size_t rows : {1, 2, 9}) {
      const auto a = random_matrix(format.a_scheme(), format.a, rows, 530, 96 + rows);
      const std::vector<float> expected = gemm(a, b), found = gemm(a, kept, 2), again = gemm(a, RightOperand(kept), 1);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(bits(found[i]), bits(expected[i])) << format.name << " " << rows << " rows, " << i;
        ASSERT_EQ(bits(again[i]), bits(expected[i])) << format.name << " " << rows << " rows, " << i;
      }
    }
  }
  EXPECT_THROW(RightOperand{std::shared_ptr<const QuantizedMatrix>{}}, Error);
  EXPECT_THROW(RightOperand{QuantizedMatrix{}}, Error);
}

TEST(GemmErrors, NameWhatIsWrong) {
  const auto text = [](const QuantizedMatrix& a, const QuantizedMatrix& b) {
    try {
      gemm(a, b);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const auto a = random_matrix(Scheme::nvfp4, Format::e2m1, 2, 20, 97);
  EXPECT_EQ(text(a, random_matrix(Scheme::nvfp4, Format::e2m1, 2, 21, 98)),
            "the operands' contractions differ: the left has vectors of 20, the right of 21; the columns of A must be "
            "as many as the "
            "rows of B");
  EXPECT_NE(text(a, random_matrix(Scheme::mxfp4, Format::e2m1, 2, 20, 98)).find("differ in scheme"), std::string::npos);
  const auto fp4 = random_matrix(Scheme::luq, Format::e3m0, 2, 20, 98);
  const auto int4 = random_matrix(Scheme::int4, Format::e3m0, 2, 20, 98);
  for (const auto& [left, right] : {std::pair{fp4, int4}, {int4, int4}, {fp4, fp4}, {fp4, a}, {a, int4}})
    EXPECT_NE(text(left, right).find("INT4 on the left and FP4 [1,3,0] on the right"), std::string::npos);
  EXPECT_NE(text(a, fp4).find("differ in scheme"), std::string::npos);
  EXPECT_NE(text(int4, a).find("differ in scheme"), std::string::npos);
  auto broken = a;
  broken.scales.pop_back();
  EXPECT_EQ(text(a, broken),
            "the right operand of scheme nvfp4, 2 vectors of 20, has k_padded = 32, 64 codes and 3 scales; expected "
            "k_padded = 32, 64 "
            "codes and 4 scales");
  broken = a;
  broken.element = Format::e4m3;
  EXPECT_EQ(text(broken, a),
            "the element format of the left operand is e4m3, which scheme nvfp4 does not have; expected e2m1");
  const auto long_k = random_matrix(Scheme::nvfp4, Format::e2m1, 1, nvfp4_max_k + 1, 99);
  EXPECT_NE(text(long_k, long_k).find("has length 1048577; expected at most 1048576"), std::string::npos);
  QuantizedMatrix empty;
  EXPECT_EQ(text(empty, a), "the left operand has 0 vectors of 0 elements; expected at least one of each");
}

}  // namespace
}  // namespace narrowgauge
