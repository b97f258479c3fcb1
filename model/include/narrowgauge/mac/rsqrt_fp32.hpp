// SPDX-License-Identifier: Apache-2.0
// Reciprocal square root of an FP32 number as ng_rsqrt_fp32 has it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

/// 1 / sqrt(a) of an FP32 code, rounded once to nearest even (IEEE 754-2019, rSqrt): at most half a unit in the last
/// place from the exact root, which is never a tie. A zero gives the infinity of its sign, +infinity +0; NaNs and other
/// numbers below zero give 0x7FC00000. The result does not depend on the host's arithmetic: its estimate is corrected
/// by integers.
inline std::uint32_t rsqrt_fp32(std::uint32_t a) {
  constexpr std::uint32_t inf = 0x7F800000, nan = 0x7FC00000;
  const std::uint32_t magnitude = a & 0x7FFFFFFF;
  if (magnitude == 0) return (a & 0x80000000) | inf;
  if (a > inf) return nan;  // negative, too
  if (a == inf) return 0;
  // a = m 4^half 2^-23, m an integer of 24 or 25 bits.
  const int biased = static_cast<int>(magnitude >> 23);
  std::uint64_t m = biased ? (magnitude & 0x7FFFFF) | 0x800000 : magnitude;
  int exponent = (biased ? biased : 1) - 127;
  for (; m < 0x800000; m <<= 1) --exponent;
  if (exponent & 1) m <<= 1, --exponent;
  const int half = exponent / 2;
  // q: the largest integer with q^2 m < 2^73, which is 1 / sqrt(m 2^-23) with 25 bits below the point.
  const auto below = [m](std::uint64_t q) {
    return static_cast<unsigned __int128>(q) * q * m < static_cast<unsigned __int128>(1) << 73;
  };
  auto q = static_cast<std::uint64_t>(std::ldexp(1 / std::sqrt(static_cast<double>(m)), 36) * std::sqrt(2.0));
  while (!below(q)) --q;
  while (below(q + 1)) ++q;
  return round_pack(desc(Format::fp32), false, -half - 26, q << 1 | 1);  // it is never exact: the sticky bit
}

/// Cycles of ng_rsqrt_fp32 between the edge that takes the number and valid_o: 25, and one for each two places a
/// subnormal number is shifted up.
inline int rsqrt_fp32_steps(std::uint32_t a) {
  const std::uint32_t magnitude = a & 0x7FFFFFFF;
  return 25 + (magnitude == 0 || magnitude >= 0x800000 ? 0 : (std::countl_zero(magnitude) - 7) / 2);
}

}  // namespace narrowgauge
