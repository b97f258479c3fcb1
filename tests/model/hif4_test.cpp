// SPDX-License-Identifier: Apache-2.0
// Blocks of HiFloat4 whose codes are known by hand, its corners and errors. verif/oracle/test_hif4.py compares millions
// of numbers with a transcription.
#include "narrowgauge/quant/hif4.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint16_t>;

TEST(Hif4, LevelsDoubleWhatReachesThem) {
  std::vector<float> x(64, 0.25F);
  x[0] = 7;      // 1.75 x 2 x 2
  x[4] = -3.5F;  // 1.75 x 2, of the first eight
  x[8] = 2;      // 1 x 2, of four
  x[16] = 1.5F;  // of neither
  const Hif4Blocks q = hif4_quantize(x);
  EXPECT_EQ(q.scales, Bytes{48 * 4});  // 1
  EXPECT_EQ(q.level2, Bytes{1});
  EXPECT_EQ(q.level3, Words{1 | 1 << 2});
  EXPECT_EQ(q.codes[0], 7);
  EXPECT_EQ(q.codes[1], 0);  // a quarter of a quarter
  EXPECT_EQ(q.codes[4], 15);
  EXPECT_EQ(q.codes[5], 1);  // half a quarter goes up
  EXPECT_EQ(q.codes[8], 4);
  EXPECT_EQ(q.codes[16], 6);
  EXPECT_EQ(q.codes[63], 1);
  const std::vector<float> back = hif4_dequantize(q.codes, q.scales, q.level2, q.level3);
  for (const std::size_t i : {0, 4, 8, 16, 63}) EXPECT_EQ(back[i], x[i]);
}

TEST(Hif4, ScalesEndAtBothEnds) {
  std::vector<float> x(192, 0.0F);
  x[0] = -0x1p-60F;
  x[64] = std::numeric_limits<float>::max();
  const Hif4Blocks q = hif4_quantize(x);
  EXPECT_EQ(q.scales, (Bytes{0, 254, 0}));
  EXPECT_EQ(q.codes[0], 8);
  EXPECT_EQ(q.codes[64], 7);
  EXPECT_EQ(hif4_dequantize(q.codes, q.scales, q.level2, q.level3)[64], 7 * 49152.0F);
}

TEST(Hif4, AnyNumberOfThreadsGivesTheSame) {
  std::vector<float> x(std::size_t{64} * 5000);
  std::uint32_t state = 1;
  for (float& number : x) {
    state = state * 1664525 + 1013904223;
    number = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
  }
  const Hif4Blocks one = hif4_quantize(x, 1), four = hif4_quantize(x, 4);
  EXPECT_EQ(one.codes, four.codes);
  EXPECT_EQ(one.scales, four.scales);
  EXPECT_EQ(one.level2, four.level2);
  EXPECT_EQ(one.level3, four.level3);
  EXPECT_EQ(hif4_dequantize(one.codes, one.scales, one.level2, one.level3, 1),
            hif4_dequantize(one.codes, one.scales, one.level2, one.level3, 4));
}

TEST(Hif4, Errors) {
  EXPECT_THROW(hif4_quantize({}), Error);
  EXPECT_THROW(hif4_quantize(std::vector<float>(65)), Error);
  std::vector<float> x(64);
  x[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(hif4_quantize(x), Error);
  const Bytes codes(64), one(1);
  const Words level3(1);
  EXPECT_THROW(hif4_dequantize(codes, Bytes(2), one, level3), Error);
  EXPECT_THROW(hif4_dequantize(Bytes(63), one, one, level3), Error);
  EXPECT_THROW(hif4_dequantize(codes, one, Bytes(2), level3), Error);
  EXPECT_THROW(hif4_dequantize(codes, one, one, Words(2)), Error);
  EXPECT_THROW(hif4_dequantize(Bytes(64, 16), one, one, level3), Error);
  EXPECT_THROW(hif4_dequantize(codes, Bytes{0xFF}, one, level3), Error);
}

}  // namespace
}  // namespace narrowgauge
