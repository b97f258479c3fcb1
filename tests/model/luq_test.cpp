// SPDX-License-Identifier: Apache-2.0
// LUQ's golden library. verif/oracle/test_luq.py has the same rules in exact fractions.
#include "narrowgauge/luq/luq.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/luq/log_prune.hpp"
#include "narrowgauge/luq/lognormal.hpp"
#include "narrowgauge/luq/mul_luq.hpp"
#include "narrowgauge/luq/quantize_luq.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

template <class F>
std::string said(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

std::vector<float> lognormal_values(std::size_t count, unsigned seed, float sigma) {
  std::vector<float> x = test::normal_values(2 * count, seed);
  for (std::size_t i = 0; i < count; ++i) x[i] = std::copysign(std::exp2(sigma * x[i]), x[count + i]);
  x.resize(count);
  return x;
}

/// All 256 pairs: both shapes, and the standard datapath, stand for the product of the values.
TEST(LuqProduct, AllPairs) {
  for (unsigned a = 0; a < 16; ++a) {
    for (unsigned b = 0; b < 16; ++b) {
      const int product = (a < 8 ? static_cast<int>(a) : static_cast<int>(a) - 16) *
                          static_cast<int>(decode(Format::e3m0, b));  // the format's table
      EXPECT_EQ(luq_product(a, b), product);
      EXPECT_LE(std::abs(product), 512);
      const std::uint8_t fp7 = luq_product_fp7(a, b);
      EXPECT_EQ(decode(Format::fp7_e4m2, fp7), product) << a << " " << b;
      EXPECT_EQ(fp7 >> 6, (a >> 3 ^ b >> 3) & 1);
      EXPECT_EQ(luq_product_standard(a, b), fp7);
      EXPECT_EQ(fp7_product(int4_to_fp7(a), fp4_to_fp7(b)), fp7);
    }
  }
}

/// Why unsigned activations are refused: of 0 to 15 exactly 9, 11, 13 and 15 are no numbers of FP7.
TEST(LuqProduct, UnsignedActivationsDoNotFit) {
  std::vector<int> rounded;
  for (int w = 0; w < 16; ++w)
    if (decode(Format::fp7_e4m2, encode(Format::fp7_e4m2, w)) != w) rounded.push_back(w);
  EXPECT_EQ(rounded, (std::vector<int>{9, 11, 13, 15}));
}

TEST(LuqProduct, Fp7RoundsAsTheFormatDoes) {
  for (unsigned a = 0; a < 128; ++a) {
    for (unsigned b = 0; b < 128; ++b) {
      const auto value = [](unsigned code) { return (code & 0x3C) == 0 ? 0.0 : decode(Format::fp7_e4m2, code); };
      const std::uint32_t expected = encode(Format::fp7_e4m2, value(a) * value(b));
      const std::uint32_t sign = (a ^ b) & 0x40;
      EXPECT_EQ(fp7_product(a, b), (expected & 0x3F) | sign) << a << " " << b;
    }
  }
}

/// The alpha that nothing clips under, and not twice that.
TEST(LuqAlpha, CoversTheMaximum) {
  for (const int levels : {7, 8}) {
    for (const float amax : test::wild_values(20000, 3)) {
      const float a = std::fabs(amax);
      if (a == 0) continue;
      const double exact = luq_alpha(a, levels, false), power = luq_alpha(a, levels, true);
      EXPECT_GE(std::ldexp(exact, levels - 1), a);
      EXPECT_LT(std::ldexp(std::nextafter(static_cast<float>(exact), 0.0F), levels - 1), a);
      EXPECT_EQ(std::ldexp(1.0, std::ilogb(power)), power);
      EXPECT_GE(std::ldexp(power, levels - 1), a);
      if (power > 0x1p-127) {
        EXPECT_LT(std::ldexp(power, levels - 2), a);
      }
    }
    EXPECT_EQ(luq_alpha(0, levels), 1.0F);
    EXPECT_EQ(luq_alpha(64, levels, false), levels == 7 ? 1.0F : 0.5F);
  }
  EXPECT_EQ(luq_alpha(0x1p-149F, 7, true), 0x1p-127F);
  EXPECT_EQ(luq_alpha(0x1p-149F, 7, false), 0x1p-149F);
}

/// Under powers of two and 7 levels the rule is round_pack's on e3m0, for every BF16 number.
TEST(LuqCode, IsTheFormatsRoundingUnderPowersOfTwo) {
  PhiloxStream random(11, 8);
  for (unsigned x = 0; x < 0x10000; ++x) {
    if (is_special_bf16(static_cast<std::uint16_t>(x))) continue;
    const float value = std::bit_cast<float>(x << 16);
    for (const unsigned scale : {0U, 1U, 100U, 127U, 200U, 254U, (x >> 7 & 0xFF) == 0 ? 0U : (x >> 7 & 0xFF) - 1}) {
      const auto alpha = static_cast<float>(decode(Format::e8m0, scale));
      const std::uint32_t r = random.draw();
      ASSERT_EQ(luq_code(value, alpha, 7, LuqRounding::stochastic, r, 8),
                quantize_luq(static_cast<std::uint16_t>(x), static_cast<std::uint8_t>(scale), true, r, 8))
          << x << " " << scale << " " << r;
      ASSERT_EQ(luq_code(value, alpha, 7, LuqRounding::nearest_power),
                quantize_luq(static_cast<std::uint16_t>(x), static_cast<std::uint8_t>(scale), false, 0, 8));
    }
  }
}

TEST(LuqCode, SpecialNumbers) {
  EXPECT_EQ(quantize_luq(0x7F80, 127, true, 0), 0x7);
  EXPECT_EQ(quantize_luq(0xFF80, 127, false, 0), 0xF);
  EXPECT_EQ(quantize_luq(0x7FC0, 127, false, 0), 0x7);
  EXPECT_EQ(quantize_luq(0xFFC0, 127, true, 255), 0x7);
  EXPECT_EQ(quantize_luq(0x0000, 255, true, 255), 0x7);
  EXPECT_EQ(quantize_luq(0x8000, 127, true, 255), 0x8);
}

/// Every step of an octave grid, with an alpha that is no power of two, too: of 2^r words floor(delta 2^r) go up, so
/// the expectation is short of x by delta - floor(delta 2^r) / 2^r of a step, nothing where r bits hold delta; the
/// variance is then (x - l)(u - x). All sums here are of integers times alpha's 24 bits: exact.
TEST(LuqCode, ExpectationVarianceAndBias) {
  for (const int bits : {1, 4, 8}) {
    const std::uint32_t words = 1U << bits;
    for (const int levels : {7, 8}) {
      for (const float alpha : {1.0F, 0.3F}) {
        for (int field = 0; field < levels; ++field) {
          const double low = field == 0 ? 0 : std::ldexp(1.0, field - 1), step = field == 0 ? 1 : low;
          for (int part = 0; part < 2 * static_cast<int>(words); ++part) {  // twice as fine as the random bits
            const double y = low + step * part / (2.0 * words);             // in units of alpha
            const auto x = static_cast<float>(y * double{alpha});
            if (double{x} != y * double{alpha}) continue;  // alpha = 0.3 leaves the numbers that FP32 has
            double sum = 0, squares = 0;
            for (std::uint32_t r = 0; r < words; ++r) {
              const double value = luq_value(luq_code(-x, alpha, levels, LuqRounding::stochastic, r, bits), levels);
              ASSERT_LE(value, 0);
              sum -= value;
              squares += (-value - y) * (-value - y);
            }
            const double bias = step * (part % 2) / (2.0 * words);
            ASSERT_EQ(sum / words, y - bias) << bits << " " << levels << " " << alpha << " " << y;
            if (part % 2 == 0) {
              ASSERT_EQ(squares / words, (y - low) * (low + step - y));
            }
          }
        }
      }
    }
  }
}

TEST(LuqCode, NearestPower) {
  const auto code = [](float x) { return static_cast<int>(luq_code(x, 1, 8, LuqRounding::nearest_power)); };
  EXPECT_EQ(code(0.5F), 0);
  EXPECT_EQ(code(std::nextafter(0.5F, 1.0F)), 1);
  for (int k = 0; k < 7; ++k) {  // 2^floor(log2(4 x / 3))
    const float middle = std::ldexp(1.5F, k);
    EXPECT_EQ(code(middle), k + 2);
    EXPECT_EQ(code(std::nextafter(middle, 0.0F)), k + 1);
  }
  EXPECT_EQ(code(1e30F), 8);
}

TEST(LuqQuantize, TensorsClipNothingAndAverageToX) {
  const std::vector<float> x = lognormal_values(512, 5, 2);
  for (const bool power : {false, true}) {
    for (const int levels : {7, 8}) {
      std::vector<double> sum(x.size());
      constexpr int samples = 256;
      const auto all = luq_samples(x, samples, {.levels = levels, .power_of_two = power, .random_bits = 24, .seed = 3});
      ASSERT_EQ(all.size(), samples);
      for (const LuqTensor& q : all) {
        const std::vector<double> values = luq_dequantize(q);
        for (std::size_t i = 0; i < x.size(); ++i) {
          sum[i] += values[i];
          ASSERT_LE(q.codes[i] & (levels == 7 ? 7 : 15), levels);
        }
      }
      EXPECT_NE(all[0].codes, all[1].codes);
      double squares = 0;  // of deviations in standard errors
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double a = all[0].alpha, y = std::fabs(double{x[i]}) / a;
        const double low = y < 1 ? 0 : std::exp2(std::floor(std::log2(y))), high = y < 1 ? 1 : 2 * low;
        const double error = std::sqrt((y - low) * (high - y) / samples) * a;
        if (error > 1e-9 * a) squares += std::pow((sum[i] / samples - x[i]) / error, 2);
      }
      EXPECT_LT(squares / static_cast<double>(x.size()), 1.3);
    }
  }
}

TEST(LuqQuantize, RandomFieldsAreThoseOfTheStream) {
  const std::vector<float> x = lognormal_values(100, 6, 3);
  const LuqTensor q = luq_quantize(x, {.random_bits = 12, .seed = 9, .first_field = 77});
  PhiloxStream stream(9, 12, 77);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(q.codes[i], luq_code(x[i], q.alpha, 7, LuqRounding::stochastic, stream.draw(), 12));
  const LuqTensor clipped = luq_quantize(x, {.rounding = LuqRounding::nearest_power, .amax = 0.5F});
  EXPECT_EQ(clipped.alpha, 0x1p-7F);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::fabs(x[i]) >= 0.5F) {
      EXPECT_EQ(clipped.codes[i] & 7, 7);
    }
  const LuqTensor zeros = luq_quantize(std::vector<float>{0.0F, -0.0F});
  EXPECT_EQ(zeros.codes, (std::vector<std::uint8_t>{0, 8}));
  EXPECT_TRUE(std::signbit(luq_dequantize(zeros)[1]));
}

TEST(LuqHindsight, MovingMaximum) {
  HindsightMax m;
  EXPECT_EQ(m.amax(), 0.0F);
  m.record(8);
  EXPECT_EQ(m.amax(), 8.0F);
  m.record(4);
  EXPECT_EQ(m.amax(), static_cast<float>((1 - 0.1) * 4 + 0.1 * 8));
  HindsightMax last(0);
  last.record(3);
  last.record(0);
  EXPECT_EQ(last.amax(), 0.0F);
  EXPECT_THROW(HindsightMax(1), Error);
  EXPECT_THROW(HindsightMax(double{nan}), Error);
  EXPECT_THROW(m.record(-1), Error);
  EXPECT_THROW(m.record(inf), Error);
}

TEST(LuqInt4, SawbAndRounding) {
  const std::vector<float> x = test::normal_values(4096, 8);
  double squares = 0, magnitudes = 0;
  for (const float v : x) {
    squares += double{v} * v;
    magnitudes += std::fabs(v);
  }
  const double clip = sawb_clip(x);
  EXPECT_EQ(clip, 12.1 * std::sqrt(squares / 4096) - 12.2 * (magnitudes / 4096));
  EXPECT_NEAR(clip, 12.1 - 12.2 * std::sqrt(2 / std::numbers::pi), 0.2);  // of a normal distribution
  const Int4Tensor q = int4_quantize(x);
  EXPECT_EQ(q.scale, static_cast<float>(2 * clip / 15));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = std::fabs(double{x[i]} - q.values[i] * double{q.scale});
    if (q.values[i] != 7 && q.values[i] != -8) {
      ASSERT_LE(error, q.scale / 2.0);
    }
  }
  const Int4Tensor ties =
      int4_quantize(std::vector<float>{0.5F, 1.5F, -2.5F, 6.5F, 7.5F, 100, -8.5F, -100, -7.5F}, 7.5);
  EXPECT_EQ(ties.scale, 1.0F);
  EXPECT_EQ(ties.values, (std::vector<std::int8_t>{0, 2, -2, 6, 7, 7, -8, -8, -8}));
  EXPECT_EQ(sawb_clip(std::vector<float>(9, -3.0F)), 3.0);  // the formula is negative
  EXPECT_EQ(int4_quantize(std::vector<float>{0, 0}).scale, 1.0F);
}

/// Exact integers in 64 bits, rounded once, then the epilogue; and SMP's mean.
TEST(LuqGemm, ExactSums) {
  const std::size_t m = 5, n = 7, k = 97;
  const Int4Tensor a = int4_quantize(test::normal_values(m * k, 1));
  for (const int levels : {7, 8}) {
    const std::vector<float> gradient = lognormal_values(n * k, 2, 2);
    const auto samples = luq_samples(gradient, 3, {.levels = levels, .power_of_two = levels == 7, .seed = 1});
    const std::vector<float> c = luq_gemm(a, samples[0], m, n, k);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        std::int64_t sum = 0;
        for (std::size_t t = 0; t < k; ++t)
          sum += std::int64_t{a.values[i * k + t]} * luq_value(samples[0].codes[j * k + t], levels);
        EXPECT_EQ(c[i * n + j], static_cast<float>(sum) * (a.scale * samples[0].alpha));
        if (levels == 7) {
          std::vector<std::uint8_t> codes(k);
          for (std::size_t t = 0; t < k; ++t) codes[t] = static_cast<std::uint8_t>(a.values[i * k + t] & 15);
          EXPECT_EQ(luq_dot(codes, std::span(samples[0].codes).subspan(j * k, k)), sum);
        }
      }
    }
    const std::vector<float> mean = luq_gemm(a, samples, m, n, k);
    const std::vector<float> c1 = luq_gemm(a, samples[1], m, n, k), c2 = luq_gemm(a, samples[2], m, n, k);
    for (std::size_t i = 0; i < mean.size(); ++i)
      EXPECT_EQ(mean[i], static_cast<float>((double{c[i]} + c1[i] + c2[i]) / 3));
  }
}

TEST(Lognormal, ExponentBitsFollowTheThresholds) {
  EXPECT_EQ(exponent_bits(3, 0.69), 1);
  EXPECT_EQ(exponent_bits(3, 0.7), 2);
  EXPECT_EQ(exponent_bits(4, 1.2), 3);  // [1,3,0], LUQ's format
  EXPECT_EQ(exponent_bits(6, 4.8), 4);
  EXPECT_EQ(exponent_bits(6, 4.9), 5);
  EXPECT_EQ(exponent_bits(8, 0), 1);
  EXPECT_EQ(exponent_bits(8, 100), 7);
  EXPECT_THROW(exponent_bits(2, 1), Error);
  EXPECT_THROW(exponent_bits(4, -1), Error);
}

TEST(Lognormal, StatisticsOfPowersOfTwo) {
  const LogStatistics s = log_statistics(std::vector<float>{0.5F, -2, 0, -0.0F, 8, 8});
  EXPECT_EQ(s.count, 6U);
  EXPECT_EQ(s.zeros, 2U);
  EXPECT_EQ(s.mean, 1.5);
  EXPECT_EQ(s.sigma, std::sqrt((6.25 + 0.25 + 2.25 + 2.25) / 4));
  EXPECT_EQ(s.amax, 8.0F);
  EXPECT_EQ(lognormal_scale(3), 0.125);
  EXPECT_EQ(log_statistics(std::vector<float>{0, 0}).sigma, 0);
  EXPECT_THROW(log_statistics(std::vector<float>{1, nan}), Error);
}

/// The paper's form of the same integral, with erf.
TEST(Lognormal, ExpectedSparsityIsThePapers) {
  for (const double sigma : {0.3, 1.0, 2.5, 4.0}) {
    for (double log_t = -3; log_t <= 3; log_t += 0.25) {
      const double t = std::exp(log_t), e = std::exp(sigma * sigma / 2), root = std::sqrt(2.0);
      const double paper =
          0.5 +
          (e * std::erf(sigma / root - log_t / (root * sigma)) + t * std::erf(log_t / (root * sigma)) - e) / (2 * t);
      EXPECT_NEAR(expected_sparsity(t, sigma), paper, 1e-9 * (1 + e / t)) << sigma << " " << log_t;
    }
  }
}

/// The same integral by quadrature, (phi(z) / t) e^(s u) over u < z, where Phi(z - s) underflows.
TEST(Lognormal, ExpectedSparsityOfWideTensors) {
  for (const double sigma : {28.0, 31.0, 36.0, 60.0, 97.0}) {
    for (const double z : {-3.0, -1.0, 0.0, 1.0, 3.0}) {
      double kept = 0;  // of phi(z - v) e^(-s v), v from 0, by Simpson's rule
      const double step = 40 / sigma / 20000;
      for (int i = 0; i <= 20000; ++i) {
        const double v = i * step;
        const double value = std::exp(-(z - v) * (z - v) / 2 - sigma * v) / std::sqrt(2 * std::numbers::pi);
        kept += value * step / 3 * (i == 0 || i == 20000 ? 1 : i % 2 == 0 ? 2 : 4);
      }
      const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
      EXPECT_NEAR(expected_sparsity(std::exp(z * sigma), sigma), below - kept, 1e-9) << sigma << " " << z;
    }
  }
}

/// Sparsity that is reached on lognormal data: of 2^16 numbers, within five standard errors.
TEST(Lognormal, PruningReachesItsTarget) {
  std::vector<float> x = lognormal_values(1U << 16, 12, 2);
  const LogStatistics s = log_statistics(x);
  PhiloxStream random(4, 16);
  for (const double target : {0.5, 0.7, 0.85, 0.95}) {
    const double tau = pruning_threshold(target, s.mean * std::numbers::ln2, s.sigma * std::numbers::ln2);
    double zeros = 0, sum = 0, kept = 0;
    for (const float v : x) {
      const float y = prune(v, static_cast<float>(tau), random.draw(), 16);
      zeros += y == 0;
      sum += std::fabs(v);
      kept += std::fabs(y);
    }
    EXPECT_NEAR(zeros / static_cast<double>(x.size()), target, 0.01);
    EXPECT_NEAR(kept / sum, 1, 0.02);
  }
  EXPECT_EQ(pruning_threshold(0.3, 0, 1, 0.3), 0.0);
  EXPECT_LT(pruning_threshold(0.5, 0, 1, 0.3), pruning_threshold(0.5, 0, 1));
  EXPECT_THROW(pruning_threshold(1, 0, 1), Error);
  EXPECT_THROW(pruning_threshold(0.2, 0, 1, 0.3), Error);
  EXPECT_EQ(prune(0.25F, 1, 191, 8), 0.0F);
  EXPECT_EQ(prune(-0.25F, 1, 192, 8), -1.0F);
  EXPECT_EQ(prune(3, 1, 0, 8), 3.0F);
}

/// Over all words of one number, and of tensors: which words they take, and what is refused.
TEST(Lognormal, PruningOfTensors) {
  for (const float v : {0.0F, 0.001F, 0.3F, -0.5F, 0.9999F, 1.0F, -7.0F}) {
    for (const float threshold : {1.0F, 0.7F, 0.0F}) {
      int zeros = 0;
      for (std::uint32_t word = 0; word < 16; ++word) zeros += prune(v, threshold, word, 4) == 0;
      EXPECT_EQ(expected_sparsity(std::span(&v, 1), threshold, 4), zeros / 16.0) << v << " " << threshold;
    }
  }
  const std::vector<float> x = lognormal_values(100, 3, 1);
  const std::vector<float> pruned = prune(x, 1, 7, 12);
  PhiloxStream random(7, 12);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(pruned[i], prune(x[i], 1, random.draw(), 12));
  EXPECT_EQ(prune(x, 0, 7), x);

  const LogStatistics s = log_statistics(x);
  EXPECT_EQ(pruning_threshold(0.6, s),
            pruning_threshold(0.6, s.mean * std::numbers::ln2, s.sigma * std::numbers::ln2, 0));
  const std::vector<float> equal{2, -2, 0, 2};
  EXPECT_EQ(pruning_threshold(0.25, log_statistics(equal)), 0);
  EXPECT_EQ(pruning_threshold(0.1, log_statistics(equal)), 0);
  EXPECT_DOUBLE_EQ(pruning_threshold(0.625, log_statistics(equal)), 4);
  EXPECT_EQ(expected_sparsity(equal, 4), 0.625);
  EXPECT_EQ(pruning_threshold(0.9, log_statistics(std::vector<float>{0, 0})), 0);
  for (const double target : {-0.1, 1.0, double{nan}}) EXPECT_THROW(pruning_threshold(target, s), Error);
  for (const float threshold : {-1.0F, inf, nan}) EXPECT_THROW(prune(x, threshold, 0), Error);
  for (const int bits : {0, 25}) EXPECT_THROW(prune(x, 1, 0, bits), Error);
  EXPECT_THROW(prune(std::vector<float>{}, 1, 0), Error);
  EXPECT_THROW(expected_sparsity(std::vector<float>{1, nan}, 1), Error);
}

TEST(LogPrune, LogarithmIsNear) {
  for (std::uint32_t code = 1; code < 0x7F80; ++code) {
    const double exact = std::log2(std::bit_cast<float>(code << 16));
    for (int bits = 1; bits <= 7; ++bits) {
      const double got = std::ldexp(log2_bf16(static_cast<std::uint16_t>(code), bits), -bits);
      ASSERT_LT(std::fabs(got - exact), 1.0 / 64 + (bits == 7 ? 0 : std::ldexp(0.5, -bits))) << code << " " << bits;
    }
  }
  EXPECT_EQ(log2_bf16(0xBF80, 4), log2_bf16(0x3F80, 4));  // the sign has no say
}

TEST(LogPrune, PrunesAsFloatsArePruned) {
  std::uint32_t state = 1;
  const auto draw = [&](unsigned bits) { return (state = state * 1664525 + 1013904223) >> (32 - bits); };
  for (int i = 0; i < 200000; ++i) {
    const auto threshold = static_cast<std::uint16_t>(draw(15) % 0x7F80);
    const std::uint32_t below = draw(12);
    const auto magnitude = static_cast<std::uint16_t>(threshold > below ? threshold - below : draw(15) % 0x7F80);
    const auto x = static_cast<std::uint16_t>(magnitude | draw(1) << 15);
    const int bits = 1 + static_cast<int>(draw(8) % 24);
    const std::uint32_t random = draw(static_cast<unsigned>(bits));
    const auto value = [](std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); };
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value(prune_bf16(x, threshold, random, bits))),
              std::bit_cast<std::uint32_t>(prune(value(x), value(threshold), random, bits)))
        << x << " " << threshold << " " << random << " " << bits;
  }
  EXPECT_EQ(prune_bf16(0x7F80, 0x7F7F, 0, 8), 0x7F80);
  EXPECT_EQ(prune_bf16(0xFFC1, 0x7F7F, 0, 8), 0xFFC1);
}

/// The loop of docs/luq.md: sums of a stream give its statistics, those the threshold, that the sparsity.
TEST(LogPrune, SumsGiveTheThreshold) {
  for (const float sigma : {0.5F, 1.0F, 2.0F, 4.0F}) {
    const std::vector<float> x = lognormal_values(1 << 14, 5, sigma);
    LogSums sums;
    std::vector<float> taken;
    for (const float v : x) {
      const auto code = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16);
      sums.add(code, 4);
      taken.push_back(std::bit_cast<float>(std::uint32_t{code} << 16));
    }
    const LogStatistics s = log_statistics(sums, 4), exact = log_statistics(taken);
    EXPECT_NEAR(s.mean, exact.mean, 0.005);
    EXPECT_NEAR(s.sigma, exact.sigma, 0.005);
    for (const double target : {0.5, 0.7, 0.85, 0.95}) {
      const auto tau = static_cast<float>(pruning_threshold(target, s));
      EXPECT_NEAR(expected_sparsity(taken, tau), target, 0.01) << sigma;
    }
  }
  LogSums sums;
  for (const int code : {0, 0x8000, 0x7F80, 0x3F80}) sums.add(static_cast<std::uint16_t>(code), 4);
  EXPECT_EQ(sums.count, 1U);
  EXPECT_EQ(sums.zeros, 2U);
  EXPECT_NE(said([&] { log_statistics(sums, 4); }).find("has an infinity or a NaN"), std::string::npos);
  sums = {};
  sums.add(0, 4);
  EXPECT_EQ(log_statistics(sums, 4).count, 1U);
  EXPECT_EQ(log_statistics(sums, 4).sigma, 0);
}

/// quantize() and gemm(), which engines and programs use, are these functions: along rows and columns, with given
/// scales.
TEST(LuqGemm, OperandsOfEveryProduct) {
  const std::size_t m = 5, n = 7, k = 97;
  const std::vector<float> x = test::normal_values(m * k, 1), gradient = lognormal_values(k * n, 2, 2);
  std::vector<float> turned(gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) turned[i % n * k + i / n] = gradient[i];
  for (const Rounding rounding : {Rounding::nearest_even, Rounding::stochastic}) {
    const bool stochastic = rounding == Rounding::stochastic;
    const QuantizeOptions options{
        .scheme = Scheme::luq, .element = Format::e3m0, .rounding = rounding, .random_bits = 11, .seed = 5};
    const LuqTensor luq = luq_quantize(
        turned,
        {.rounding = stochastic ? LuqRounding::stochastic : LuqRounding::nearest_power, .random_bits = 11, .seed = 5});
    const QuantizedMatrix b = quantize(gradient, k, n, Axis::columns, options);
    EXPECT_EQ(b.codes, luq.codes);
    EXPECT_EQ(b.tensor_scale, luq.alpha);
    EXPECT_EQ(dequantize(b), luq_dequantize(luq));
    QuantizeOptions of_a = options;
    of_a.scheme = Scheme::int4;
    const Int4Tensor int4 = int4_quantize(x);
    const QuantizedMatrix a = quantize(x, m, k, Axis::rows, of_a);
    EXPECT_EQ(a.tensor_scale, int4.scale);
    EXPECT_EQ(dequantize(a), int4_dequantize(int4));
    EXPECT_EQ(gemm(a, b), luq_gemm(int4, luq, m, n, k));
    of_a.tensor_scale = 0.3F;
    const QuantizedMatrix given = quantize(x, m, k, Axis::rows, of_a);
    EXPECT_EQ(given.tensor_scale, 0.3F);
    EXPECT_EQ(dequantize(given), int4_dequantize(int4_quantize(x, 0.3F * 7.5)));
  }
}

TEST(LuqErrors, SayWhat) {
  const std::vector<float> x{1, nan, 2}, fine{1, 2, 3};
  const auto expect = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(said([&] { luq_quantize(x); }), "element 1 is nan; expected finite numbers");
  expect(said([&] { luq_quantize(std::vector<float>{-inf}); }), "element 0 is -inf");
  expect(said([&] { luq_quantize({}); }), "x is empty");
  expect(said([&] { luq_quantize(fine, {.levels = 6}); }), "levels is 6; expected 7");
  expect(said([&] { luq_quantize(fine, {.random_bits = 25}); }), "random_bits is 25; expected 1 to 24");
  expect(said([&] { luq_quantize(fine, {.amax = -1.0F}); }), "expected a finite number, 0 or more");
  expect(said([&] { luq_samples(fine, 0); }), "samples is 0; expected 1 to 256");
  expect(said([&] { luq_samples(fine, 2, {.rounding = LuqRounding::nearest_power}); }), "they would all be equal");
  expect(said([&] { int4_quantize(fine, -1.0); }), "clip is -1");
  expect(said([&] { int4_quantize(x); }), "element 1 is nan");
  Int4Tensor unsigned_activations{.values = {9, 1, 15}};
  const LuqTensor g{.codes = {1, 2, 3}};
  expect(said([&] { luq_gemm(unsigned_activations, g, 1, 1, 3); }), "9, 11, 13 and 15 take three bits");
  expect(said([&] { luq_gemm(Int4Tensor{.values = {1, 2}}, g, 1, 1, 3); }), "expected 3 and 3");
  expect(said([&] {
           luq_gemm(Int4Tensor{.values = {1, 2, 3}}, LuqTensor{.codes = {1, 2, 16}}, 1, 1, 3);
         }),
         "holds the code 16");
  expect(said([&] {
           luq_gemm(Int4Tensor{.values = {1, 2, 3}}, LuqTensor{.codes = {1, 2, 25}, .levels = 8}, 1, 1, 3);
         }),
         "code 25");
  expect(said([&] { luq_gemm(Int4Tensor{}, LuqTensor{}, 0, 1, 3); }), "expected sizes of 1 or more");
  expect(said([&] { luq_dot(std::vector<std::uint8_t>{1}, std::vector<std::uint8_t>{}); }), "expected equal lengths");
}

}  // namespace
}  // namespace narrowgauge
