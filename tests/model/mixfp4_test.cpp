// SPDX-License-Identifier: Apache-2.0
// Blocks of MixFP4 whose codes are known by hand, its corners and errors. verif/oracle/test_mixfp4.py compares millions
// of numbers with a transcription.
#include "narrowgauge/quant/mixfp4.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(MixFp4, ABlockOfE2m1IsOne) {
  const std::vector<float> e2m1{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
  const MixFp4Blocks q = mixfp4_quantize(e2m1);
  EXPECT_EQ(q.amax, 6);
  EXPECT_EQ(q.scales, Bytes{0x7E});
  EXPECT_EQ(q.codes, (Bytes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  const std::vector<float> back = mixfp4_dequantize(q.codes, q.scales, q.amax);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(back[i], e2m1[i], 1e-6);
}

TEST(MixFp4, ABlockOfStepsIsE1m2) {
  std::vector<float> x;
  for (int i = -7; i <= 8; ++i) x.push_back(static_cast<float>(i == 8 ? 0 : i));
  const MixFp4Blocks q = mixfp4_quantize(x);
  EXPECT_EQ(q.scales, Bytes{0xFC});  // 384, and the flag
  EXPECT_EQ(q.codes, (Bytes{15, 14, 13, 12, 11, 10, 9, 0, 1, 2, 3, 4, 5, 6, 7, 0}));
  const std::vector<float> back = mixfp4_dequantize(q.codes, q.scales, q.amax);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(back[i], x[i], 1e-6);
}

/// Both kinds have the same error in blocks of zeros, and of numbers below the least scale.
TEST(MixFp4, EqualErrorsChooseE1m2) {
  std::vector<float> x(48, 0.0F);
  EXPECT_EQ(mixfp4_quantize(x).scales, Bytes(3, mixfp4_e1m2));
  x[0] = 1;
  x[16] = -0x1p-22F;
  const MixFp4Blocks q = mixfp4_quantize(x);
  EXPECT_EQ(q.scales[1], mixfp4_e1m2);
  EXPECT_EQ(q.codes[16], 0);
}

TEST(MixFp4, TheWidestRangesStayFinite) {
  for (const float amax : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                           std::numeric_limits<float>::denorm_min()}) {
    std::vector<float> x(32, amax);
    x[3] = -amax;
    const MixFp4Blocks q = mixfp4_quantize(x);
    for (const float value : mixfp4_dequantize(q.codes, q.scales, q.amax)) EXPECT_TRUE(std::isfinite(value)) << amax;
  }
}

TEST(MixFp4, ThreadsDoNotMatter) {
  std::vector<float> x(16 * 5000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 2654435761U % 1000) / 7 - 70;
  const MixFp4Blocks one = mixfp4_quantize(x, 1), many = mixfp4_quantize(x, 3);
  EXPECT_EQ(one.codes, many.codes);
  EXPECT_EQ(one.scales, many.scales);
}

TEST(MixFp4, BadInputIsRefused) {
  EXPECT_THROW(mixfp4_quantize(std::vector<float>(17)), Error);
  EXPECT_THROW(mixfp4_quantize({}), Error);
  std::vector<float> x(16);
  x[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(mixfp4_quantize(x), Error);
  const Bytes codes(16);
  EXPECT_THROW(mixfp4_dequantize(codes, Bytes(2), 1), Error);
  EXPECT_THROW(mixfp4_dequantize(codes, Bytes{0xFF}, 1), Error);
  EXPECT_THROW(mixfp4_dequantize(Bytes(16, 16), Bytes{1}, 1), Error);
  EXPECT_THROW(mixfp4_dequantize(codes, Bytes{1}, std::numeric_limits<float>::infinity()), Error);
}

}  // namespace
}  // namespace narrowgauge
