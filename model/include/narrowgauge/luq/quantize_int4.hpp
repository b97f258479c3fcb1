// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_int4: BF16 codes to INT4 under an FP32 scale. The rule is int4_quantize() of luq/luq.hpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "narrowgauge/luq/luq.hpp"

namespace narrowgauge {

/// The scales that ng_quantize_int4 takes: positive numbers. Others are refused: special_o.
inline bool is_int4_scale(float scale) { return std::isfinite(scale) && scale > 0; }

/// Two's complement code of a BF16 code over `scale`: the quotient rounded to nearest even, saturating at -8 and 7,
/// infinities too. A NaN, or a scale that is refused, gives 7.
inline std::uint8_t quantize_int4(std::uint16_t x, float scale) {
  const float number = std::bit_cast<float>(std::uint32_t{x} << 16);
  if (std::isnan(number) || !is_int4_scale(scale)) return 7;
  if (std::isinf(number)) return std::signbit(number) ? 8 : 7;
  // The clip whose scale this is: 28 bits, exact, and 2 clip / 15 is exact again.
  const Int4Tensor q = int4_quantize(std::span(&number, 1), 7.5 * double{scale});
  return static_cast<std::uint8_t>(q.values[0] & 15);
}

}  // namespace narrowgauge
