// SPDX-License-Identifier: Apache-2.0
// Quotient of two FP32 numbers as ng_div_fp32 has it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace narrowgauge {

/// a / b of FP32 codes, rounded once to nearest even (IEEE 754-2019, division under roundTiesToEven); every NaN is
/// 0x7FC00000 (saturate: 0x7FFFFFFF). `saturate`: instead of an infinity the largest number of its sign.
inline std::uint32_t div_fp32(std::uint32_t a, std::uint32_t b, bool saturate = false) {
  const float y = std::bit_cast<float>(a) / std::bit_cast<float>(b);
  if (std::isnan(y)) return saturate ? 0x7FFFFFFF : 0x7FC00000;
  constexpr float largest = std::numeric_limits<float>::max();
  return std::bit_cast<std::uint32_t>(saturate ? std::clamp(y, -largest, largest) : y);
}

/// Cycles of ng_div_fp32 between the edge that takes the pair and valid_o: 0 if an operand is a zero, an infinity or a
/// NaN; else 25, and one for each zero before the quotient's first 1 and for each place b is shifted up.
inline int div_fp32_steps(std::uint32_t a, std::uint32_t b) {
  const auto x = std::bit_cast<float>(a & 0x7FFFFFFF), y = std::bit_cast<float>(b & 0x7FFFFFFF);
  if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) return 0;
  const auto significand = [](std::uint32_t code) { return (code & 0x7FFFFF) | (code & 0x7F800000 ? 0x800000U : 0U); };
  const int shift = std::countl_zero(significand(b)) - 8;
  const std::uint32_t divisor = significand(b) << shift;
  int zeros = 0;
  while (significand(a) << zeros < divisor) ++zeros;
  return 25 + zeros + shift;
}

}  // namespace narrowgauge
