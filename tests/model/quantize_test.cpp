// SPDX-License-Identifier: Apache-2.0
// The quantizers: reference vectors, the fast ones against the scalar rules, the scalar rules against integers.
#include "narrowgauge/quant/quantize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/quant/dequantize.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/quant/eden_scale.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize_4over6.hpp"
#include "narrowgauge/quant/quantize_eden.hpp"
#include "narrowgauge/quant/quantize_fp8.hpp"
#include "narrowgauge/quant/quantize_mx.hpp"
#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "narrowgauge/quant/rules.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

constexpr float flt_max = std::numeric_limits<float>::max();

// ---- docs/numerics.md, Reference vectors

struct VendorVector {
  const char* name;
  float amax;
  std::uint32_t s_enc;
  float raw;  ///< noted to all digits where it is 1 or more, to six below
  std::uint32_t scale;
  std::uint32_t enc;
  const char* codes;  ///< element 15 first
  std::vector<float> x;
};

const std::vector<VendorVector>& vendor_vectors() {
  static const std::vector<VendorVector> vectors{
      {"zero_tensor", 0, 0x3f800000, 0, 0x00, 0x7f7fffff, "0000000000000000", {}},
      {"zero_block", 1, 0x45280000, 0, 0x00, 0x7f7fffff, "0000000000000000", {}},
      {"all_codes",
       6,
       0x43e00000,
       448.000031F,
       0x7e,
       0x3f800000,
       "8091feedca766542",
       {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6, .5F, -.5F, .25F, -.25F}},
      {"fractions", 1, 0x45280000, 448, 0x7e, 0x40c00000, "00000000016f74a1", {.1F, -.2F, .3F, 1, -1, .7F, .05F, .02F}},
      {"small_scale", 1, 0x45280000, 1, 0x38, 0x45280000, "00000000000000d7", {1.0F / 448, -.5F / 448}},
      {"scale_underflow", 1, 0x45280000, 4.48e-5F, 0x00, 0x7f7fffff, "00000000000000f7", {1e-7F, -1e-7F}},
      {"subnormal_scale", 1, 0x45280000, 0.00448F, 0x02, 0x49280000, "00000000000004e7", {1e-5F, -7e-6F, 3e-6F}},
      {"ngpt", 1, 0x45280000, 448, 0x7e, 0x40c00000, "00000000000b7580", {.03F, -.011F, .5F, 1, -.25F}},
      {"huge", 3e38F, 0x053e8ee1, 448, 0x7e, 0x00d9c7dc, "0000000000000f47", {3e38F, 1e38F, -3e38F}},
      {"denormal", 1e-40F, 0x7f7fffff, .00567134F, 0x03, 0x7f7fffff, "0000000000000080", {1e-40F, -5e-41F}},
  };
  return vectors;
}

class VendorRule : public testing::TestWithParam<VendorVector> {};
INSTANTIATE_TEST_SUITE_P(Reference, VendorRule, testing::ValuesIn(vendor_vectors()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(VendorRule, ReproducesReferenceVector) {
  const VendorVector& v = GetParam();
  const float s_enc = vendor::encode_scale(v.amax);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(s_enc), v.s_enc);
  float block_amax = 0;
  for (const float x : v.x) block_amax = std::max(block_amax, std::abs(x));
  const float raw = vendor::raw_block_scale(block_amax, s_enc);
  EXPECT_NEAR(raw, v.raw, v.raw >= 1 ? 0 : v.raw * 1e-6);
  const std::uint32_t scale = encode(Format::ue4m3, raw);
  EXPECT_EQ(scale, v.scale);
  EXPECT_EQ(
      std::bit_cast<std::uint32_t>(vendor::block_encode_scale(static_cast<float>(decode(Format::ue4m3, scale)), s_enc)),
      v.enc);

  // Through the quantizer: the block, and a second one that holds the tensor's maximum.
  std::vector<float> x = v.x;
  x.resize(16);
  x.resize(32, v.amax);
  for (const bool given : {false, true}) {
    if (given && v.amax != 1) continue;  // nGPT's constant S_enc = 2688
    QuantizeOptions options{.rule = ScaleRule::vendor};
    if (given) options.tensor_scale = 1.0F / 2688;
    const QuantizedMatrix q = quantize(x, 1, 32, Axis::rows, options);
    EXPECT_EQ(q.scales[0], v.scale);
    std::string codes;
    for (int i = 15; i >= 0; --i) codes += "0123456789abcdef"[q.codes[static_cast<std::size_t>(i)]];
    EXPECT_EQ(codes, v.codes);
    EXPECT_EQ(q.tensor_scale, v.amax == 0 ? 1.0F : v.amax / 2688);
  }
}

TEST(Mxfp4Rule, ReproducesReferenceScales) {
  const std::vector<std::pair<float, int>> rows{{6, 0x7f}, {4, 0x7f}, {7.99F, 0x7f},  {8, 0x80},
                                                {1, 0x7d}, {0, 0x00}, {1e-45F, 0x00}, {3e38F, 0xfc}};
  for (const auto& [amax, scale] : rows) {
    EXPECT_EQ(mx_block_scale(desc(Format::e2m1), amax), scale) << amax;
    std::vector<float> x(40);
    x[3] = -amax;
    const auto q = quantize(x, 1, 40, Axis::rows, {.scheme = Scheme::mxfp4});
    EXPECT_EQ(q.k_padded, 64U);
    EXPECT_EQ(q.scales[0], scale) << amax;
    EXPECT_EQ(q.scales[1], 0);
    EXPECT_EQ(q.tensor_scale, 1.0F);
  }
  EXPECT_EQ(quantize(std::vector<float>{7.99F}, 1, 1, Axis::rows, {.scheme = Scheme::mxfp4}).codes[0], 7)
      << "clips to 6";
}

// ---- the scalar rules against integers
// ---------------------------------------------------------------------------------

/// value = mantissa * 2^exponent, mantissa below 2^53.
struct Exact {
  std::int64_t mantissa;
  int exponent;
};
Exact exact(double x) {
  int e = 0;
  const double f = std::frexp(x, &e);
  Exact result{static_cast<std::int64_t>(std::ldexp(f, 53)), e - 53};
  while (result.mantissa != 0 && result.mantissa % 2 == 0) result.mantissa /= 2, ++result.exponent;
  return result;
}
/// Sign of a - b * c; a >= 0, b, c >= 0 have few enough bits.
__extension__ using Int128 = __int128;
int compare(double a, double b, double c) {
  if (b == 0 || c == 0) return a > 0;
  if (a == 0) return -1;
  const Exact x = exact(a), y = exact(b), z = exact(c);
  Int128 left = x.mantissa, right = Int128{y.mantissa} * z.mantissa;
  const auto bits = [](Int128 v) {
    int n = 0;
    for (; v; v >>= 1) ++n;
    return n;
  };
  const int left_top = bits(left) + x.exponent, right_top = bits(right) + y.exponent + z.exponent;
  if (left_top != right_top) return left_top < right_top ? -1 : 1;
  const int shift = x.exponent - (y.exponent + z.exponent);
  (shift > 0 ? left : right) <<= std::abs(shift);
  return left < right ? -1 : left > right;
}

const std::vector<double>& units() {
  static const std::vector<double> list = [] {
    std::vector<double> u{1,
                          448,
                          0x1p-9,
                          1.0F / 3,
                          448.0 * (1.0F / 2688),
                          15 * 0x1.FFFFFEp-140,
                          0x1p-149,
                          0x1p-158,
                          448.0 * 0x1.FFFFFEp100};
    std::mt19937 generator(31);
    for (int i = 0; i < 40; ++i) {
      const auto g = std::bit_cast<float>(static_cast<std::uint32_t>(0x30000000 + generator() % 0x20000000));
      u.push_back(decode(Format::ue4m3, 1 + generator() % 126) * g);
    }
    return u;
  }();
  return list;
}

std::vector<float> magnitudes_for(const FormatDesc& f, double unit, unsigned seed) {
  std::vector<float> xs = test::boundary_values(f, unit);
  for (const float x : test::normal_values(50, seed))
    xs.push_back(static_cast<float>(x * decode(f, f.max_code()) * unit / 3));
  for (const float x : test::wild_values(20, seed)) xs.push_back(x);
  std::erase_if(xs, [](float x) { return !std::isfinite(x); });
  return xs;
}

TEST(QuantizeElement, NearestAndTowardZeroAreExact) {
  std::size_t ran = 0;
  for (const Format format : {Format::e2m1, Format::e4m3, Format::e5m2, Format::ue4m3}) {
    const FormatDesc& f = desc(format);
    for (const double unit : units()) {
      for (const float x : magnitudes_for(f, unit, 32)) {
        if (x < 0 && !f.sign) continue;
        const double magnitude = std::abs(static_cast<double>(x));
        std::uint32_t low = 0;
        while (low < f.max_code() && compare(magnitude, decode(f, low + 1), unit) >= 0) ++low;
        std::uint32_t nearest = low;
        if (low < f.max_code()) {
          const int side = compare(magnitude, (decode(f, low) + decode(f, low + 1)) / 2, unit);
          nearest += side > 0 || (side == 0 && low % 2 == 1);
        }
        const std::uint32_t sign = std::signbit(x) ? f.sign_mask() : 0;
        ASSERT_EQ(quantize_element(f, x, unit), sign | nearest) << f.name << " " << x << " / " << unit;
        ASSERT_EQ(quantize_element(f, x, unit, {.rounding = Rounding::toward_zero}), sign | low)
            << f.name << " " << x << " / " << unit;
        ++ran;
      }
    }
  }
  EXPECT_GT(ran, 100000U);
}

TEST(QuantizeElement, StochasticIsExact) {
  std::mt19937 generator(33);
  for (const Format format : {Format::e2m1, Format::e5m2}) {
    const FormatDesc& f = desc(format);
    for (const double unit : units()) {
      for (const float x : magnitudes_for(f, unit, 34)) {
        const double magnitude = std::abs(static_cast<double>(x));
        std::uint32_t low = 0;
        while (low < f.max_code() && compare(magnitude, decode(f, low + 1), unit) >= 0) ++low;
        for (const int bits : {8, 24}) {
          const std::uint32_t random = static_cast<std::uint32_t>(generator()) >> (32 - bits);
          std::uint32_t expected = low;
          if (low < f.max_code()) {
            const double step = decode(f, low + 1) - decode(f, low);
            expected += compare(magnitude, decode(f, low) + step * (1 - std::ldexp(random, -bits)), unit) >= 0;
          }
          const std::uint32_t sign = std::signbit(x) ? f.sign_mask() : 0;
          ASSERT_EQ(
              quantize_element(f, x, unit, {.rounding = Rounding::stochastic, .random = random, .random_bits = bits}),
              sign | expected)
              << f.name << " " << x << " / " << unit << " R " << random << " r " << bits;
        }
      }
    }
  }
}

TEST(AmaxScale, NeverClipsWhereItMatters) {
  for (const float largest : {2688.0F, 448.0F, 57344.0F}) {
    EXPECT_EQ(amax_scale(0, largest), 1.0F);
    EXPECT_EQ(amax_scale(1e-45F, largest), 0x1p-149F);
    EXPECT_EQ(amax_scale_power_of_two(0, largest), 1.0F);
    for (const float x : test::wild_values(5000, 35)) {
      const float amax = std::abs(x);
      if (amax == 0) continue;
      const float scale = amax_scale(amax, largest), power = amax_scale_power_of_two(amax, largest);
      ASSERT_GT(scale, 0);
      if (scale >= std::numeric_limits<float>::min()) {
        ASSERT_EQ(scale, amax / largest);
      } else {
        ASSERT_GE(static_cast<double>(scale) * largest, amax);
        ASSERT_LT((static_cast<double>(scale) - 0x1p-149) * largest, amax);
      }
      int exponent = 0;
      ASSERT_EQ(std::frexp(power, &exponent), 0.5F);
      ASSERT_GE(static_cast<double>(power) * largest, amax);
      ASSERT_TRUE(power == 0x1p-149F || static_cast<double>(power) / 2 * largest < amax);
    }
  }
}

// ---- the fast quantizer against the scalar rules
// -----------------------------------------------------------------------

struct Case {
  std::string name;
  QuantizeOptions options;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  const std::vector<std::pair<std::string, QuantizeOptions>> schemes{
      {"nvfp4", {}},
      {"mxfp4", {.scheme = Scheme::mxfp4}},
      {"e4m3", {.scheme = Scheme::fp8, .element = Format::e4m3}},
      {"e5m2", {.scheme = Scheme::fp8, .element = Format::e5m2}},
      {"mx_e4m3", {.scheme = Scheme::mxfp8, .element = Format::e4m3}},
      {"e4m3fnuz", {.scheme = Scheme::fp8, .element = Format::e4m3fnuz}},
      {"e3m4", {.scheme = Scheme::fp8, .element = Format::e3m4}},
      {"mx_e5m2", {.scheme = Scheme::mxfp8, .element = Format::e5m2}},
      {"mx_e2m3", {.scheme = Scheme::mxfp6, .element = Format::e2m3}},
      {"mx_e3m2", {.scheme = Scheme::mxfp6, .element = Format::e3m2}},
      {"mx_int8", {.scheme = Scheme::mxint8, .element = Format::int8_mx}}};
  for (const auto& [name, base] : schemes) {
    for (const auto& [mode, rounding] : {std::pair{"even", Rounding::nearest_even},
                                         {"away", Rounding::nearest_away},
                                         {"zero", Rounding::toward_zero},
                                         {"stochastic", Rounding::stochastic}}) {
      QuantizeOptions options = base;
      options.rounding = rounding;
      options.seed = 0xFEEDF00D12345678;
      list.push_back({name + "_" + mode, options});
      if (rounding == Rounding::stochastic) {
        options.random_bits = 24;
        list.push_back({name + "_stochastic24", options});
      }
    }
  }
  return list;
}

class Quantizer : public testing::TestWithParam<Case> {
 protected:
  void expect_rules(const std::vector<float>& x, std::size_t rows, std::size_t cols, QuantizeOptions options) {
    const QuantizedMatrix q = quantize(x, rows, cols, Axis::rows, options);
    check(q, "q");
    float amax = 0;
    for (const float v : x) amax = std::max(amax, std::abs(v));
    ASSERT_EQ(q.tensor_scale, tensor_scale(amax, options));
    const FormatDesc& f = desc(options.element);
    const std::size_t block = block_size(options.scheme);
    std::vector<std::uint32_t> random(q.codes.size());
    random_fields(options.seed, 0, options.random_bits, random);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < q.k_padded; ++i) {
        const std::size_t first = i / block * block;
        float block_amax = 0;
        for (std::size_t j = first; j < std::min(first + block, cols); ++j) {
          block_amax = std::max(block_amax, std::abs(x[row * cols + j]));
        }
        double unit = q.tensor_scale;
        bool zero = false;
        if (options.scheme != Scheme::fp8) {
          const bool nv = options.scheme == Scheme::nvfp4;
          const std::uint8_t scale = nv ? nvfp4_block_scale(block_amax, q.tensor_scale) : mx_block_scale(f, block_amax);
          ASSERT_EQ(q.scales[row * q.blocks() + i / block], scale)
              << "row " << row << " element " << i << " amax " << block_amax;
          unit *= decode(nv ? Format::ue4m3 : Format::e8m0, scale);
          zero = unit == 0;
        }
        const std::size_t at = row * q.k_padded + i;
        const float value = i < cols ? x[row * cols + i] : 0.0F;
        const RoundOptions rounding{
            .rounding = options.rounding, .random = random[at], .random_bits = options.random_bits};
        ASSERT_EQ(q.codes[at], zero ? 0 : quantize_element(f, value, unit, rounding))
            << "row " << row << " element " << i << " x " << value << " unit " << unit;
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Cases, Quantizer, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Quantizer, EqualsRulesOnNormalValues) {
  for (const float sigma : {1.0F, 1e-38F, 1e-43F, 1e37F}) {
    SCOPED_TRACE("seed 41, sigma " + std::to_string(sigma));
    expect_rules(test::normal_values(37 * 101, 41, sigma), 37, 101, GetParam().options);
  }
}

TEST_P(Quantizer, EqualsRulesOnWildValues) {
  expect_rules(test::wild_values(64 * 160, 42), 64, 160, GetParam().options);
}

TEST_P(Quantizer, EqualsRulesAtThresholds) {
  // One block for each block scale, holding its maximum and values at and next to scaled thresholds.
  const QuantizeOptions& base = GetParam().options;
  for (const float g : {1.0F, 0x1.FFFFFEp-3F, 1.0F / 2688, 0x1p-149F, 3e-40F, 0x1.234568p90F}) {
    QuantizeOptions options = base;
    if (!is_mx(base.scheme)) options.tensor_scale = g;
    const FormatDesc& f = desc(base.element);
    std::vector<float> x;
    if (base.scheme == Scheme::fp8) {
      x = test::boundary_values(f, g);
    } else {
      const bool nv = base.scheme == Scheme::nvfp4;
      const FormatDesc& scale_format = desc(nv ? Format::ue4m3 : Format::e8m0);
      const double top = decode(f, f.max_code());
      for (std::uint32_t scale = 1; scale <= scale_format.max_code() - (nv ? 0 : 2); ++scale) {
        const double unit = decode(scale_format, scale) * (nv ? g : 1.0F);
        if (top * unit > flt_max) break;
        const std::vector<float> values = test::boundary_values(f, unit);
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (x.size() % block_size(base.scheme) == 0) x.push_back(static_cast<float>(top * unit));
          x.push_back(values[i]);
        }
        x.resize((x.size() + 31) / 32 * 32);
      }
      if (nv) {  // maxima at and next to the thresholds of the block scale
        for (const float amax : test::boundary_values(scale_format, 6.0 * g)) {
          x.push_back(amax);
          x.resize((x.size() + 15) / 16 * 16);
        }
      }
    }
    SCOPED_TRACE(g);
    expect_rules(x, 1, x.size(), options);
  }
}

TEST(Quantizer, ScalesOfVectorsAndBlocks) {
  // Each part has the codes that it has alone; quantizing the transpose along the other axis is the same.
  const std::size_t rows = 261, cols = 300;
  std::vector<float> x = test::normal_values(rows * cols, 47);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] *= std::exp2(static_cast<float>(i / cols % 7) - static_cast<float>(i % cols / 50));
  std::fill(x.begin(), x.begin() + 2 * cols, 0.0F);
  for (const Format element : {Format::e4m3, Format::e5m2}) {
    for (const Scaling scaling : {Scaling::vector, Scaling::block_1x128, Scaling::block_128x128}) {
      for (const bool power_of_two : {false, true}) {
        const QuantizeOptions options{
            .scheme = Scheme::fp8, .element = element, .power_of_two_scale = power_of_two, .scaling = scaling};
        const QuantizedMatrix q = quantize(x, rows, cols, Axis::rows, options);
        check(q, "q");
        const std::size_t tall = scaling == Scaling::block_128x128 ? 128 : 1,
                          wide = scaling == Scaling::vector ? cols : 128;
        for (std::size_t row = 0; row < rows; row += tall) {
          for (std::size_t col = 0; col < cols; col += wide) {
            std::vector<float> part;
            const std::size_t height = std::min(tall, rows - row), width = std::min(wide, cols - col);
            for (std::size_t i = 0; i < height; ++i)
              for (std::size_t j = 0; j < width; ++j) part.push_back(x[(row + i) * cols + col + j]);
            const QuantizedMatrix alone =
                quantize(part, height, width, Axis::rows,
                         {.scheme = Scheme::fp8, .element = element, .power_of_two_scale = power_of_two});
            ASSERT_EQ(q.fp32_scale(row, col), alone.tensor_scale) << row << ' ' << col;
            for (std::size_t i = 0; i < height; ++i)
              for (std::size_t j = 0; j < width; ++j)
                ASSERT_EQ(q.codes[(row + i) * cols + col + j], alone.codes[i * width + j]);
          }
        }
        std::vector<float> transposed(x.size());
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < cols; ++j) transposed[j * rows + i] = x[i * cols + j];
        const QuantizedMatrix t = quantize(transposed, cols, rows, Axis::columns, options);
        EXPECT_EQ(t.codes, q.codes);
        EXPECT_EQ(t.fp32_scales, q.fp32_scales);
        const std::vector<double> y = dequantize(q);
        for (std::size_t i = 0; i < y.size(); ++i)
          ASSERT_EQ(y[i], decode(element, q.codes[i]) * q.fp32_scale(i / cols, i % cols));
      }
    }
  }
}

TEST_P(Quantizer, ColumnsAreRowsOfTheTranspose) {
  const std::size_t rows = 75, cols = 43;
  const std::vector<float> x = test::normal_values(rows * cols, 43);
  std::vector<float> transposed(x.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) transposed[j * rows + i] = x[i * cols + j];
  }
  const auto a = quantize(x, rows, cols, Axis::columns, GetParam().options);
  const auto b = quantize(transposed, cols, rows, Axis::rows, GetParam().options);
  EXPECT_EQ(a.rows, cols);
  EXPECT_EQ(a.k, rows);
  EXPECT_EQ(a.codes, b.codes);
  EXPECT_EQ(a.scales, b.scales);
}

TEST_P(Quantizer, ThreadsAndSeeds) {
  const std::vector<float> x = test::normal_values(200 * 96, 44);
  QuantizeOptions options = GetParam().options;
  options.threads = 1;
  const auto one = quantize(x, 200, 96, Axis::rows, options);
  options.threads = 3;
  EXPECT_EQ(quantize(x, 200, 96, Axis::rows, options).codes, one.codes);
  options.seed = 99;
  EXPECT_EQ(quantize(x, 200, 96, Axis::rows, options).codes != one.codes, options.rounding == Rounding::stochastic);
}

TEST(Quantizer, StochasticRoundingIsUnbiasedUpToItsBits) {
  // x between two values of the block: mean of many roundings; r = 8 cuts delta to multiples of 1/256.
  std::vector<float> x(1 << 16, 2.3F);
  for (std::size_t i = 0; i < x.size(); i += 16) x[i] = 6;
  const auto q =
      quantize(x, 1, x.size(), Axis::rows, {.rounding = Rounding::stochastic, .seed = 5, .tensor_scale = 1.0F});
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += i % 16 ? decode(Format::e2m1, q.codes[i]) : 0;
  const double mean = sum / (static_cast<double>(x.size()) * 15 / 16), expected = 2 + std::floor(0.3 * 256) / 256;
  EXPECT_NEAR(mean, expected, 5 * std::sqrt(0.21 / static_cast<double>(x.size())));
}

TEST(Quantizer, UnderflownBlocksHaveNoCodesUnlessVendor) {
  std::vector<float> x(32);
  x[0] = 1;
  x[16] = 1e-7F;
  x[17] = -1e-7F;
  const auto exact_rule = quantize(x, 1, 32, Axis::rows, {});
  EXPECT_EQ(exact_rule.scales[1], 0);
  EXPECT_EQ(exact_rule.codes[16], 0);
  EXPECT_EQ(exact_rule.codes[17], 0);
  const auto vendor_rule = quantize(x, 1, 32, Axis::rows, {.rule = ScaleRule::vendor});
  EXPECT_EQ(vendor_rule.scales[1], 0);
  EXPECT_EQ(vendor_rule.codes[16], 7);
  EXPECT_EQ(vendor_rule.codes[17], 0xF);
}

TEST(Quantizer, KeepsNegativeZeroWhereThereIsOne) {
  for (const GemmFormat& format : gemm_formats) {
    const auto q =
        quantize(std::vector<float>{-0.0F, 1.0F}, 1, 2, Axis::rows, {.scheme = format.scheme, .element = format.a});
    const bool one_zero = format.scheme == Scheme::mxint8 || desc(format.a).nan == NanKind::fnuz;
    EXPECT_EQ(q.codes[0], one_zero ? 0 : desc(format.a).sign_mask()) << format.name;
  }
}

TEST(Quantizer, VendorFastEqualsScalarSequence) {
  for (const float sigma : {1.0F, 1e-38F, 1e-42F, 1e37F}) {
    const std::vector<float> x = test::normal_values(64 * 256, 45, sigma);
    const auto q = quantize(x, 64, 256, Axis::rows, {.rule = ScaleRule::vendor});
    float amax = 0;
    for (const float v : x) amax = std::max(amax, std::abs(v));
    const float s_enc = vendor::encode_scale(amax);
    for (std::size_t i = 0; i < x.size(); i += 16) {
      float block_amax = 0;
      for (std::size_t j = i; j < i + 16; ++j) block_amax = std::max(block_amax, std::abs(x[j]));
      const std::uint32_t scale = encode(Format::ue4m3, vendor::raw_block_scale(block_amax, s_enc));
      ASSERT_EQ(q.scales[i / 16], scale);
      const float enc = vendor::block_encode_scale(static_cast<float>(decode(Format::ue4m3, scale)), s_enc);
      for (std::size_t j = i; j < i + 16; ++j)
        ASSERT_EQ(q.codes[j], encode(Format::e2m1, vendor::scaled_element(x[j], enc)));
    }
  }
}

// The golden function of ng_quantize_nvfp4, block by block.
TEST(Quantizer, BlocksOfTheUnitAreThoseOfTheDialect) {
  const Dialect dialect = parse_dialect("narrowgauge:nonfinite=nan_scale");
  std::mt19937_64 rng(1);
  for (const float g : {1.0F, 0x1.555556p-9F, 0x1.fffffep-60F, 0x1p-111F, 0x1.8p-130F, 0x1p-149F, 0x1.4p+100F}) {
    constexpr std::size_t blocks = 3000;
    std::vector<std::uint16_t> codes(16 * blocks);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      // Sizes of a block, from vanishing to saturated scales, and all sizes; NaN and infinity in a few blocks.
      const float x = static_cast<float>(static_cast<double>(g) * std::ldexp(1.0, static_cast<int>(i / 16 % 30) - 14) *
                                         (static_cast<double>(rng() % 4096) / 1024));
      const auto any = static_cast<std::uint16_t>(rng());
      const bool finite = (any & 0x7F80) != 0x7F80 || i % 5 == 0;
      codes[i] = i / 16 % 4 == 3 && finite
                     ? any
                     : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16 | any >> 15 << 15);
    }
    std::vector<float> x(codes.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::bit_cast<float>(std::uint32_t{codes[i]} << 16);
    const QuantizedMatrix whole = quantize(x, blocks, 16, Axis::rows, dialect, {.tensor_scale = g});
    for (std::size_t b = 0; b < blocks; ++b) {
      const Nvfp4Block block = quantize_nvfp4(std::span<const std::uint16_t, 16>(codes.data() + 16 * b, 16), g);
      ASSERT_EQ(block.scale, whole.scales[b]) << "block " << b << ", g = " << g;
      for (std::size_t i = 0; i < 16; ++i)
        ASSERT_EQ(block.codes[i], whole.codes[16 * b + i]) << "block " << b << ", element " << i << ", g = " << g;
    }
  }
}

// The golden function of ng_quantize_4over6, block by block: both scales are chosen, and each sum of errors is the
// smaller one in blocks of every size of scale.
TEST(Quantizer, FourOverSixBlocksOfTheUnitAreThoseOfTheDialect) {
  const Dialect dialect = parse_dialect("narrowgauge:nonfinite=nan_scale,search=mae");
  std::mt19937_64 rng(3);
  std::array<std::size_t, 2> chosen{};
  for (const float g : {1.0F, 0x1.555556p-9F, 0x1.fffffep-60F, 0x1p-111F, 0x1.4p+100F}) {
    constexpr std::size_t blocks = 3000;
    std::vector<std::uint16_t> codes(16 * blocks);
    std::vector<float> x(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const auto size =
          static_cast<float>(static_cast<double>(g) * std::ldexp(1.0, static_cast<int>(i / 16 % 30) - 14) *
                             (static_cast<double>(rng() % (i / 16 % 2 ? 4096 : 8)) / 8));
      const auto any = static_cast<std::uint16_t>(rng());
      codes[i] = i / 16 % 16 == 3
                     ? any
                     : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(size) >> 16 | (any & 0x8000));
      x[i] = std::bit_cast<float>(std::uint32_t{codes[i]} << 16);
    }
    const QuantizedMatrix whole = quantize(x, blocks, 16, Axis::rows, dialect, {.tensor_scale = g});
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::span<const std::uint16_t, 16> from(codes.data() + 16 * b, 16);
      const Nvfp4Block block = quantize_4over6(from, g);
      ASSERT_EQ(block.scale, whole.scales[b]) << "block " << b << ", g = " << g;
      for (std::size_t i = 0; i < 16; ++i)
        ASSERT_EQ(block.codes[i], whole.codes[16 * b + i]) << "block " << b << ", element " << i << ", g = " << g;
      ++chosen[block.scale != quantize_nvfp4(from, g, false).scale];
    }
  }
  EXPECT_GT(chosen[0], 4000U);
  EXPECT_GT(chosen[1], 4000U);
}

// The golden function of ng_eden_scale, block by block, under the corrections of the dialect's groups of 128.
TEST(Quantizer, EdenScalesOfTheUnitAreThoseOfTheDialect) {
  const Dialect dialect = parse_dialect("quartet2");
  std::mt19937_64 rng(4);
  constexpr std::size_t groups = 500, group = 128;
  std::vector<float> x(groups * group);
  std::vector<std::uint32_t> words(x.size() / 16);
  float amax = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {  // scales of all sizes, subnormal and vanishing ones among them
    x[i] =
        std::ldexp(static_cast<float>(static_cast<std::int64_t>(rng() % 4096) - 2048), -static_cast<int>(i / 16 % 19));
    amax = std::max(amax, std::abs(x[i]));
  }
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(rng() >> 40);
  const QuantizedMatrix rounded = quantize(x, groups, group, Axis::rows, dialect, {.random = words});
  const QuantizedMatrix nearest = quantize(x, groups, group, Axis::rows, parse_dialect("quartet2:point=element"), {});
  const float g = tensor_scale(dialect, amax);
  const auto sum = [](const std::array<float, group>& values) {  // ErrorSum::pairwise
    std::array<float, 8> r{};
    for (std::size_t i = 0; i < group; ++i) r[i % 8] = i < 8 ? values[i] : r[i % 8] + values[i];
    return ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  };
  std::size_t up = 0;
  for (std::size_t b = 0; b < words.size(); b += 8) {
    std::array<float, group> squares{}, products{};
    for (std::size_t i = 0; i < group; ++i) {
      const auto s = static_cast<float>(decode(Format::ue4m3, nearest.scales[b + i / 16]));
      const float y = x[16 * b + i] / (s * g);
      squares[i] = y * y;
      products[i] = y * static_cast<float>(decode(Format::e2m1, nearest.codes[16 * b + i]));
    }
    const float correction = sum(squares) / sum(products);
    for (std::size_t i = b; i < b + 8; ++i) {
      ASSERT_EQ(eden_scale(nearest.scales[i], correction, words[i]), rounded.scales[i]) << "block " << i;
      up += eden_scale(nearest.scales[i], correction, words[i]) != eden_place(nearest.scales[i], correction).low;
    }
  }
  EXPECT_GT(up, 500U);
}

// The golden function of ng_quantize_eden, group by group, the last one short; with numbers that are refused, zeros,
// and tensors whose scale is subnormal or vanishes; and with another ElementMax and fewer random bits.
TEST(Quantizer, EdenGroupsOfTheUnitAreThoseOfTheDialect) {
  std::mt19937_64 rng(5);
  std::size_t up = 0, refused = 0, ones = 0;
  for (const bool usual : {true, false}) {
    const Dialect dialect = parse_dialect(usual ? "quartet2:nonfinite=nan_scale"
                                                : "quartet2:nonfinite=nan_scale,element_max=6,bound=448,random_bits=8");
    for (const int size : {0, -100, -140, -149, 100}) {
      constexpr std::size_t count = 40 * 128 + 48;
      std::vector<float> x(count);
      std::vector<std::uint32_t> words(count / 16);
      for (std::size_t i = 0; i < count; ++i) {
        const int shift = static_cast<int>(i / 16 % 19) + (rng() % 8 == 0 ? 3 : 0) + (i / 128 == 7 ? 40 : 0);
        const auto integer = static_cast<float>(static_cast<std::int64_t>(rng() % 1024) - 512);
        x[i] = i / 128 == 9 ? 0.0F : std::ldexp(integer, size - shift);
        if (rng() % 1000 == 0 || i / 128 == 11)
          x[i] = rng() % 2 ? std::numeric_limits<float>::infinity() : std::nanf("");
      }
      for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(rng() >> (64 - dialect.random_bits));
      const QuantizedMatrix q = quantize(x, 1, count, Axis::rows, dialect, {.random = words});
      for (std::size_t b = 0; b < words.size(); b += 8) {
        const std::size_t blocks = std::min<std::size_t>(8, words.size() - b);
        const std::span<const float> group(x.data() + 16 * b, 16 * blocks);
        const std::vector<EdenBlock> made = quantize_eden(group, q.tensor_scale, std::span(words).subspan(b, blocks),
                                                          dialect.element_max, dialect.random_bits);
        for (std::size_t i = 0; i < blocks; ++i) {
          ASSERT_EQ(made[i].scale, q.scales[b + i]) << "block " << b + i << " of size " << size;
          for (std::size_t j = 0; j < 16; ++j)
            ASSERT_EQ(made[i].codes[j], q.codes[16 * (b + i) + j]) << "element " << j << " of block " << b + i;
          const EdenBlock nearest = eden_block(group.subspan(16 * i, 16), q.tensor_scale, dialect.element_max);
          refused += nearest.refused;
          up += made[i].scale > nearest.scale;
          ones += nearest.scale == 0x38;
        }
      }
    }
  }
  EXPECT_GT(up, 100U);
  EXPECT_GT(refused, 100U);
  EXPECT_GT(ones, 100U);
}

// The same, stochastic, with the random bits of the seed.
TEST(Quantizer, StochasticBlocksOfTheUnitAreThoseOfTheDialect) {
  const Dialect dialect = parse_dialect("narrowgauge:nonfinite=nan_scale,rounding=stochastic");
  std::mt19937_64 rng(2);
  for (const float g : {1.0F, 0x1p-60F, 0x1p-111F, 0x1p-130F, 0x1p-149F, 0x1p+100F}) {
    constexpr std::size_t blocks = 2000;
    std::vector<std::uint16_t> codes(16 * blocks);
    std::vector<float> x(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const float size = static_cast<float>(
          static_cast<double>(g) * std::ldexp(static_cast<double>(rng() % 4096), static_cast<int>(i / 16 % 30) - 24));
      codes[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(size) >> 16 | (rng() & 0x8000));
      x[i] = std::bit_cast<float>(std::uint32_t{codes[i]} << 16);
    }
    std::vector<std::uint32_t> words(x.size());
    random_fields(5, 0, 8, words);
    const QuantizedMatrix whole = quantize(x, blocks, 16, Axis::rows, dialect, {.tensor_scale = g, .seed = 5});
    for (std::size_t b = 0; b < blocks; ++b) {
      Nvfp4Random random;
      std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(16 * b), 16, random.words.begin());
      const Nvfp4Block block =
          quantize_nvfp4(std::span<const std::uint16_t, 16>(codes.data() + 16 * b, 16), g, true, &random);
      ASSERT_EQ(block.scale, whole.scales[b]) << "block " << b << ", g = " << g;
      for (std::size_t i = 0; i < 16; ++i)
        ASSERT_EQ(block.codes[i], whole.codes[16 * b + i]) << "block " << b << ", element " << i << ", g = " << g;
    }
  }
}

// The golden function of ng_quantize_fp8, number by number, with the random bits of the seed.
TEST(Quantizer, NumbersOfTheFp8UnitAreThoseOfTheMatrix) {
  constexpr std::size_t size = 0x7F80 * 2;  // every finite BF16 number
  std::vector<std::uint16_t> codes(size);
  std::vector<float> x(size);
  for (std::size_t i = 0; i < size; ++i) {
    codes[i] = static_cast<std::uint16_t>(i / 2 | i % 2 << 15);
    x[i] = std::bit_cast<float>(std::uint32_t{codes[i]} << 16);
  }
  for (const Format format : {Format::e4m3, Format::e5m2}) {
    for (const int scale : {0, 1, 5, 15, 16, 90, 127, 140, 253, 254}) {
      for (const int bits : {0, 1, 8, 24}) {  // 0: to nearest
        const Rounding rounding = bits != 0 ? Rounding::stochastic : Rounding::nearest_even;
        const QuantizedMatrix whole = quantize(x, 1, size, Axis::rows,
                                               {.scheme = Scheme::fp8,
                                                .element = format,
                                                .rounding = rounding,
                                                .random_bits = std::max(bits, 1),
                                                .seed = 5,
                                                .tensor_scale = std::ldexp(1.0F, scale - 127)});
        std::vector<std::uint32_t> random(size);
        if (bits != 0) random_fields(5, 0, bits, random);
        for (std::size_t i = 0; i < size; ++i) {
          const std::uint8_t code =
              quantize_fp8(codes[i], static_cast<std::uint8_t>(scale), format, bits != 0, random[i], std::max(bits, 1));
          ASSERT_EQ(code, whole.codes[i]) << x[i] << ", scale " << scale << ", random bits " << bits;
        }
      }
    }
  }
}

// The golden function of ng_quantize_mx, block by block, with the random bits of the seed.
TEST(Quantizer, BlocksOfTheMxUnitAreThoseOfTheDialects) {
  constexpr std::size_t blocks = 4000;
  std::mt19937_64 rng(1);
  std::vector<std::uint16_t> codes(32 * blocks);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    // Nine binades of a block, or 41, anywhere; any codes in every fourth one, few of them NaN or infinity.
    const auto any = static_cast<std::uint16_t>(rng());
    const auto near = static_cast<std::uint16_t>((i / 32 * 31 % 0x6AF0) + rng() % (i / 32 % 2 ? 0x480 : 0x1480));
    codes[i] = static_cast<std::uint16_t>(
        i / 32 % 4 == 3 && ((any & 0x7F80) != 0x7F80 || i % 7 == 0) ? any : near | (any & 0x8000));
  }
  std::vector<float> x(codes.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::bit_cast<float>(std::uint32_t{codes[i]} << 16);
  std::vector<std::uint32_t> words(x.size());
  random_fields(5, 0, 8, words);
  const std::vector<std::uint8_t> random(words.begin(), words.end());
  for (const Format element : {Format::e2m1, Format::e4m3, Format::e5m2}) {
    for (const int options : {0, 1, 2, 3}) {
      const bool rceil = options & 1, stochastic = options & 2;
      const Dialect dialect =
          parse_dialect(std::string(rceil ? "ocp_rceil" : "ocp_floor") + ":element=" + std::string(desc(element).name) +
                        ",rounding=" + (stochastic ? "stochastic" : "nearest_even"));
      const QuantizedMatrix whole = quantize(x, blocks, 32, Axis::rows, dialect, {.seed = 5});
      for (std::size_t b = 0; b < blocks; ++b) {
        const MxBlock block = quantize_mx(std::span<const std::uint16_t, 32>(codes.data() + 32 * b, 32), element, rceil,
                                          stochastic, std::span<const std::uint8_t, 32>(random.data() + 32 * b, 32));
        ASSERT_EQ(block.scale, whole.scales[b]) << "block " << b << " of " << dialect.name;
        for (std::size_t i = 0; i < 32; ++i)
          ASSERT_EQ(block.codes[i], whole.codes[32 * b + i])
              << "block " << b << ", element " << i << " of " << dialect.name << (stochastic ? ", stochastic" : "");
      }
    }
  }
}

TEST(Dequantize, IsExactProduct) {
  const std::vector<float> x = test::normal_values(5 * 50, 46);
  for (const GemmFormat& format : gemm_formats) {
    const QuantizeOptions options{.scheme = format.scheme, .element = format.a};
    const auto q = quantize(x, 5, 50, Axis::rows, options);
    const std::vector<double> y = dequantize(q);
    ASSERT_EQ(y.size(), x.size());
    double error = 0, power = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      error += (x[i] - y[i]) * (x[i] - y[i]);
      power += static_cast<double>(x[i]) * x[i];
    }
    // 23 dB, 15 dB, of LUQ's powers of two 12 dB
    EXPECT_GT(power / error, format.scheme == Scheme::fp8   ? 200
                             : format.scheme == Scheme::luq ? 16
                                                            : 30)
        << format.name;
  }
}

TEST(Dequantize, FloatsAreTheValuesRounded) {
  for (const GemmFormat& format : gemm_formats) {
    for (const Scaling scaling : {Scaling::tensor, Scaling::vector, Scaling::block_1x128, Scaling::block_128x128}) {
      if (scaling != Scaling::tensor && format.scheme != Scheme::fp8) continue;
      std::mt19937 generator(5);
      QuantizedMatrix q;
      q.scheme = format.b_scheme(), q.element = format.b, q.rows = 131, q.k = 299, q.scaling = scaling;
      const std::size_t block = block_size(q.scheme);
      q.k_padded = (q.k + block - 1) / block * block;
      q.codes.resize(q.rows * q.k_padded);
      for (std::uint8_t& code : q.codes) code = static_cast<std::uint8_t>(generator() >> (32 - desc(q.element).bits));
      q.scales.resize(has_block_scales(q.scheme) ? q.rows * q.blocks() : 0);
      for (std::uint8_t& code : q.scales) code = static_cast<std::uint8_t>(generator() >> 24);
      q.fp32_scales.resize(q.scale_rows() * q.scale_columns());
      for (float& scale : q.fp32_scales) scale = std::ldexp(1.3F, static_cast<int>(generator() % 250) - 125);
      if (!is_mx(q.scheme) && scaling == Scaling::tensor) q.tensor_scale = 0x1.2345p-130F;
      const std::vector<double> values = dequantize(q);
      std::vector<double> doubles(values.size());
      std::vector<float> floats(values.size());
      dequantize(q, std::span(doubles), 2);
      dequantize(q, std::span(floats), 2);
      const Format scales = scale_format(q.scheme);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t row = i / q.k, k = i % q.k;
        const double scale = q.scales.empty() ? 1.0 : decode(scales, q.scales[row * q.blocks() + k / block]);
        const double value = element_value(q.scheme, q.element, q.codes[row * q.k_padded + k]) * scale *
                             static_cast<double>(q.fp32_scale(row, k));
        const auto rounded = static_cast<float>(value);
        ASSERT_EQ(std::memcmp(&values[i], &value, sizeof value), 0) << format.name << " " << i;
        ASSERT_EQ(std::memcmp(&doubles[i], &value, sizeof value), 0) << format.name << " " << i;
        ASSERT_EQ(std::memcmp(&floats[i], &rounded, sizeof rounded), 0) << format.name << " " << i;
      }
      EXPECT_THROW(dequantize(q, std::span(floats).first(5)), Error);
    }
  }
}

TEST(Dequantize, Fp8ValuesQuantizeToThemselves) {
  const std::vector<float> x = test::normal_values(5 * 50, 47);
  for (const Format format : {Format::e4m3, Format::e5m2}) {
    const QuantizeOptions options{.scheme = Scheme::fp8, .element = format, .tensor_scale = 0.125F};
    const auto first = quantize(x, 5, 50, Axis::rows, options);
    const std::vector<double> values = dequantize(first);
    const std::vector<float> narrow(values.begin(), values.end());
    EXPECT_EQ(quantize(narrow, 5, 50, Axis::rows, options).codes, first.codes) << desc(format).name;
  }
}

TEST(QuantizerErrors, NameWhatIsWrong) {
  const auto text = [](const std::vector<float>& x, std::size_t rows, std::size_t cols,
                       const QuantizeOptions& options) {
    try {
      quantize(x, rows, cols, Axis::rows, options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  std::vector<float> x(6);
  x[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(text(x, 2, 3, {}),
            "the value in row 1, column 2 (from 0) is NaN: quantization takes finite values only; replace it");
  x[1] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(text(x, 2, 3, {}),
            "the value in row 0, column 1 (from 0) is -infinity: quantization takes finite values only; replace it");
  EXPECT_EQ(text({}, 0, 3, {}), "the matrix is 0 x 3; expected at least one row and one column");
  EXPECT_EQ(text(x, 2, 4, {}), "the matrix is said to be 2 x 4 but has 6 values: pass rows * columns of them");
  EXPECT_EQ(text(x, 2, 3, {.element = Format::e4m3}),
            "the element format of the quantizer is e4m3, which scheme nvfp4 does not have; expected e2m1");
  EXPECT_EQ(text(x, 2, 3, {.scheme = Scheme::mxfp4, .rule = ScaleRule::vendor}),
            "the vendor rule was asked for with scheme mxfp4: it exists for nvfp4 only; use the exact rule");
  EXPECT_EQ(text(x, 2, 3, {.rounding = Rounding::stochastic, .random_bits = 25}),
            "stochastic rounding was asked for with 25 random bits; expected 1 to 24");
  EXPECT_EQ(text(x, 2, 3, {.tensor_scale = 0.0F}),
            "the given tensor scale is 0.000000; expected a positive finite number");
  EXPECT_EQ(text(x, 2, 3, {.scheme = Scheme::mxfp4, .tensor_scale = 1.0F}),
            "a tensor scale was given for mxfp4, which has none: drop it");
  EXPECT_NE(text(x, 2, 3, {.rule = ScaleRule::vendor, .power_of_two_scale = true}), "no error");
  for (const Scheme scheme : {Scheme::luq, Scheme::int4}) {
    const QuantizeOptions luq{.scheme = scheme, .element = Format::e3m0};
    EXPECT_NE(text(x, 2, 3, luq).find("row 0, column 1 (from 0) is -infinity"), std::string::npos);
    QuantizeOptions wrong = luq;
    wrong.element = Format::e2m1;
    EXPECT_NE(text(x, 2, 3, wrong).find(scheme == Scheme::luq ? "expected e3m0" : "expected int4"), std::string::npos);
    wrong = luq, wrong.power_of_two_scale = true;
    EXPECT_NE(text(x, 2, 3, wrong).find("asked for with luq"), std::string::npos);
    wrong = luq, wrong.rounding = Rounding::toward_zero;
    EXPECT_NE(text(x, 2, 3, wrong).find("a rounding that luq does not have"), std::string::npos);
    wrong = luq, wrong.scaling = Scaling::vector;
    EXPECT_NE(text(x, 2, 3, wrong).find("only fp8 has them"), std::string::npos);
  }
  EXPECT_THROW(find_gemm_format("fp5"), Error);
  EXPECT_EQ(find_gemm_format("fp8_e4m3_e5m2").b, Format::e5m2);
}

}  // namespace
}  // namespace narrowgauge
