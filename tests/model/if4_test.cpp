// SPDX-License-Identifier: Apache-2.0
// Blocks of IF4 whose codes are known by hand, its corners and errors. verif/oracle/test_if4.py compares 10^6 numbers
// with a transcription.
#include "narrowgauge/quant/if4.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

using Bytes = std::vector<std::uint8_t>;

const std::vector<float> e2m1{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};

TEST(If4, ABlockOfE2m1IsOne) {
  const If4Blocks q = if4_quantize(e2m1);
  EXPECT_EQ(q.amax, 6);
  EXPECT_EQ(q.scales, Bytes{0x7E});
  EXPECT_EQ(q.codes, (Bytes{0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15}));  // -0 is code 0
  const std::vector<float> back = if4_dequantize(q.codes, q.scales, q.amax);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(back[i], e2m1[i], 1e-6);
}

TEST(If4, ABlockOfIntegersIsOne) {
  std::vector<float> x;
  for (int i = -7; i <= 8; ++i) x.push_back(static_cast<float>(i == 8 ? 0 : i));
  for (const If4Choice choice : {If4Choice::mse, If4Choice::mae, If4Choice::largest}) {
    const If4Blocks q = if4_quantize(x, choice);
    EXPECT_EQ(q.scales, Bytes{0xFE});
    EXPECT_EQ(q.codes, (Bytes{9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 0}));
    const std::vector<float> back = if4_dequantize(q.codes, q.scales, q.amax);
    for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(back[i], x[i], 1e-6);
  }
}

TEST(If4, ZerosAndBlocksBelowTheLeastScaleAreZero) {
  std::vector<float> x(48, 0.0F);
  If4Blocks q = if4_quantize(x);
  EXPECT_EQ(q.scales, Bytes(3));
  EXPECT_EQ(q.codes, Bytes(48));
  x[0] = 1;
  x[16] = -0x1p-20F;
  q = if4_quantize(x);
  EXPECT_EQ(q.codes[0], 7);
  EXPECT_EQ(q.scales[1], 0);
  EXPECT_EQ(q.codes[16], 0);
}

TEST(If4, TheWidestRangesStayFinite) {
  for (const float amax : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                           std::numeric_limits<float>::denorm_min()}) {
    std::vector<float> x(32, amax);
    x[3] = -amax;
    const If4Blocks q = if4_quantize(x);
    EXPECT_EQ(q.amax, std::max(amax, 0x1.500002p-117F));
    EXPECT_LE(2688 / q.amax, std::numeric_limits<float>::max());
    for (const std::uint8_t scale : q.scales) EXPECT_NE(scale & 0x7F, 0x7F);
    for (const std::uint8_t code : q.codes) EXPECT_LT(code, 16);
  }
}

TEST(If4, AnyNumberOfThreadsGivesTheSame) {
  std::vector<float> x(16 * 5000);
  std::uint32_t state = 1;
  for (float& number : x) {
    state = state * 1664525 + 1013904223;
    number = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
  }
  const If4Blocks one = if4_quantize(x, If4Choice::mae, 1), four = if4_quantize(x, If4Choice::mae, 4);
  EXPECT_EQ(one.codes, four.codes);
  EXPECT_EQ(one.scales, four.scales);
  EXPECT_EQ(if4_dequantize(one.codes, one.scales, one.amax, 1), if4_dequantize(one.codes, one.scales, one.amax, 4));
}

TEST(If4, Errors) {
  EXPECT_THROW(if4_quantize({}), Error);
  EXPECT_THROW(if4_quantize(std::vector<float>(17)), Error);
  std::vector<float> x(16);
  x[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(if4_quantize(x), Error);
  x[5] = -std::numeric_limits<float>::infinity();
  EXPECT_THROW(if4_quantize(x), Error);
  const Bytes codes(16), scale(1);
  EXPECT_THROW(if4_dequantize(codes, Bytes(2), 1), Error);
  EXPECT_THROW(if4_dequantize(Bytes(15), scale, 1), Error);
  EXPECT_THROW(if4_dequantize(Bytes(16, 16), scale, 1), Error);
  EXPECT_THROW(if4_dequantize(codes, Bytes{0xFF}, 1), Error);
  EXPECT_THROW(if4_dequantize(codes, scale, -1), Error);
}

}  // namespace
}  // namespace narrowgauge
