// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/mac/rsqrt_fp32.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace narrowgauge {
namespace {

TEST(RsqrtFp32, EverySignificandOfTwoBinadesIsRoundedToNearest) {
  // a = m 2^-23 from 1 to below 4 and y = s 2^-24 its rounded root: y^2 a = 1 would be s^2 m = 2^71. The limits between
  // which a number rounds to s are s +- 1/2, below 2^23 and 2^24 s - 1/4; in units of 1/4 all are integers.
  constexpr auto one = static_cast<unsigned __int128>(1) << (71 + 4);
  double worst = 0;
  std::uint64_t wrong = 0;
  for (std::uint32_t i = 0; i < 1U << 24; ++i) {
    const std::uint64_t m = i < 1U << 23 ? 0x800000 + i : (i << 1);
    const std::uint32_t y = rsqrt_fp32(0x3F800000 + i);
    const std::uint64_t s = y == 0x3F800000 ? 1U << 24 : (y & 0x7FFFFF) | 0x800000;
    wrong += y > 0x3F800000 || y < 0x3F000000;
    const std::uint64_t lower = (s & (s - 1)) == 0 ? 4 * s - 1 : 4 * s - 2, upper = 4 * s + 2;
    wrong += static_cast<unsigned __int128>(lower) * lower * m >= one;
    wrong += static_cast<unsigned __int128>(upper) * upper * m <= one;
    // |1 - y^2 a| / 2 in units of the last place of y, 2^-24: the error to first order. The limits hold it below 1/2.
    const auto square = static_cast<unsigned __int128>(s) * s * m, exact = one >> 4;
    const double difference = static_cast<double>(square > exact ? square - exact : exact - square);
    worst = std::max(worst, std::ldexp(difference, -71 - 1) * static_cast<double>(s));
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(worst, 0.4999999);
}

TEST(RsqrtFp32, ThirtyFourBitsFindEveryDigit) {
  // The steps of ng_rsqrt_fp32 in its width: below 2^-34 m 2^-(j+1) is dropped, below 2^-33 s.
  constexpr int frac = 34;
  std::uint64_t wrong = 0;
  for (std::uint32_t i = 0; i < 1U << 24; ++i) {
    const std::uint64_t m = i < 1U << 23 ? 0x800000 + i : (i << 1);
    std::int64_t s = std::int64_t{1} << frac, p = 0, part = static_cast<std::int64_t>(m) << (frac - 23);
    std::uint64_t q = 0;
    for (int j = 0; j < 25; ++j) {
      part >>= 1;
      const std::int64_t less = 2 * s - (2 * p + part);
      q = q << 1 | (less >= 0);
      s = less >= 0 ? less & ~std::int64_t{1} : 2 * s;
      if (less >= 0) p += part;
      wrong += s >> (frac + 2) != 0 || p >> (frac + 1) != 0;
    }
    wrong += round_pack(desc(Format::fp32), false, -26, q << 1 | 1) != rsqrt_fp32(0x3F800000 + i);
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(RsqrtFp32, APowerOfFourMovesTheExponentAlone) {
  for (std::uint32_t i = 0; i < 1U << 24; i += 4099) {
    const std::uint32_t a = 0x3F800000 + i, y = rsqrt_fp32(a);
    for (int h = -63; h <= 63; ++h) {
      const std::uint32_t scaled = a + static_cast<std::uint32_t>(2 * h) * 0x800000;
      if (scaled >= 0x7F800000) continue;
      EXPECT_EQ(rsqrt_fp32(scaled), y - static_cast<std::uint32_t>(h) * 0x800000) << h;
    }
  }
  // Subnormal numbers, up to where they are normal after a multiplication by 2^24.
  for (std::uint32_t a = 1; a < 0x800000; a += a < 4096 ? 1 : 997) {
    const float up = std::bit_cast<float>(a) * 0x1p24F;
    EXPECT_EQ(rsqrt_fp32(a), rsqrt_fp32(std::bit_cast<std::uint32_t>(up)) + 12 * 0x800000) << a;
  }
}

TEST(RsqrtFp32, SpecialValues) {
  EXPECT_EQ(rsqrt_fp32(0), 0x7F800000U);
  EXPECT_EQ(rsqrt_fp32(0x80000000), 0xFF800000U);
  EXPECT_EQ(rsqrt_fp32(0x7F800000), 0U);
  EXPECT_EQ(rsqrt_fp32(0x3F800000), 0x3F800000U);
  for (const std::uint32_t a : {0x80000001U, 0xBF800000U, 0xFF800000U, 0x7F800001U, 0x7FC12345U, 0xFFC00000U})
    EXPECT_EQ(rsqrt_fp32(a), 0x7FC00000U);
}

}  // namespace
}  // namespace narrowgauge
