// SPDX-License-Identifier: Apache-2.0
// What rounding to BF16 stochastically is for: FP32 through stochastic quantizers of BF16 keeps its expectation and has
// the least variance (docs/units/fp32_to_bf16_sr.md).
#include "narrowgauge/format/round_stochastic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "narrowgauge/quant/quantize_fp8.hpp"
#include "narrowgauge/quant/quantize_mx.hpp"
#include "narrowgauge/quant/quantize_nvfp4.hpp"

namespace narrowgauge {
namespace {

double number(std::uint32_t code) { return std::bit_cast<float>(code); }

TEST(RoundStochastic, KeepsWhatBf16Has) {
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint16_t word : {std::uint16_t{0}, std::uint16_t{0xFFFF}})
      EXPECT_EQ(fp32_to_bf16_sr(upper << 16, word), upper);
  }
}

TEST(RoundStochastic, GoesUpForAsManyWordsAsItIsAbove) {
  std::mt19937 random(1);
  for (int n = 0; n < 1'000'000; ++n) {
    const std::uint32_t x = random(), upper = x >> 16, lower = x & 0xFFFF;
    if ((upper & 0x7FFF) >= 0x7F7F) continue;
    if (lower != 0) {
      ASSERT_EQ(fp32_to_bf16_sr(x, static_cast<std::uint16_t>(0x10000 - lower)), upper + 1) << std::hex << x;
    }
    ASSERT_EQ(fp32_to_bf16_sr(x, static_cast<std::uint16_t>(0xFFFF - lower)), upper) << std::hex << x;
  }
}

TEST(RoundStochastic, NothingBecomesInfinityOrStopsBeingNan) {
  for (std::uint32_t x = 0x7F7F0000; x < 0x80000000; x += 1 + x / 3 % 97) {
    const std::uint16_t y = fp32_to_bf16_sr(x, 0xFFFF);
    ASSERT_EQ(std::isnan(number(x)), std::isnan(number(std::uint32_t{y} << 16))) << std::hex << x;
    ASSERT_EQ(std::isinf(number(x)), std::isinf(number(std::uint32_t{y} << 16))) << std::hex << x;
  }
}

/// Mean and mean square of `quantize`, of a BF16 code and a word of eight bits, behind the unit, over all words of
/// both.
template <class Quantize>
std::pair<double, double> moments(std::uint32_t x, const Quantize& quantize) {
  const double share = (x & 0xFFFF) * 0x1p-16;
  double sum = 0, squares = 0;
  for (const std::uint32_t up : {0U, 1U}) {
    const std::uint16_t bf16 = fp32_to_bf16_sr(x, up != 0 ? 0xFFFF : 0);
    if (up != 0 && share == 0) continue;
    for (std::uint32_t word = 0; word < 256; ++word) {
      const double value = quantize(bf16, word);
      sum += (up != 0 ? share : 1 - share) * value;
      squares += (up != 0 ? share : 1 - share) * value * value;
    }
  }
  return {sum / 256, squares / 256};
}

/// Numbers of 2 to 4, in which `quantize` has multiples of `step`: the moments are those of the two neighbours l and u,
/// taken so that the mean is the number.
template <class Quantize>
void expect_unbiased(double step, const Quantize& quantize) {
  std::mt19937 random(2);
  for (int n = 0; n < 2000; ++n) {
    const std::uint32_t code = 0x40000000 | random() % 0x800000;
    const double x = number(code), l = std::floor(x / step) * step, u = l + step;
    const auto [mean, square] = moments(code, quantize);
    EXPECT_EQ(mean, x);
    EXPECT_EQ(square, l * l + (x - l) * (l + u));
  }
}

TEST(RoundStochastic, Fp8BehindItIsUnbiased) {
  for (const auto& [format, step] : {std::pair{Format::e4m3, 0x1p-2}, std::pair{Format::e5m2, 0x1p-1}}) {
    expect_unbiased(step, [&](std::uint16_t bf16, std::uint32_t word) {
      return decode(format, quantize_fp8(bf16, 127, format, true, word));
    });
  }
}

TEST(RoundStochastic, Mxfp4BehindItIsUnbiased) {
  expect_unbiased(1, [](std::uint16_t bf16, std::uint32_t word) {
    std::array<std::uint16_t, 32> block{bf16, 0x4080};  // beside a largest magnitude of 4
    std::array<std::uint8_t, 32> words{static_cast<std::uint8_t>(word)};
    const MxBlock result = quantize_mx(block, Format::e2m1, false, true, words);
    return decode(Format::e2m1, result.codes[0]) * decode(Format::e8m0, result.scale);
  });
}

/// Where the block scale is a power of two, too; under others the word of eight bits is what leaves a bias.
TEST(RoundStochastic, Nvfp4BehindItIsUnbiased) {
  expect_unbiased(1, [](std::uint16_t bf16, std::uint32_t word) {
    std::array<std::uint16_t, 16> block{bf16, 0x40C0};  // beside a largest magnitude of 6
    const Nvfp4Random words{.words = {word}};
    const Nvfp4Block result = quantize_nvfp4(block, 1.0F, false, &words);
    return decode(Format::e2m1, result.codes[0]) * decode(Format::ue4m3, result.scale);
  });
}

}  // namespace
}  // namespace narrowgauge
