// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_luq_exact: LUQ's quantizer on BF16 codes under any alpha. The rule is luq_code() of
// luq/luq.hpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "narrowgauge/luq/luq.hpp"

namespace narrowgauge {

/// What scale_i of ng_quantize_luq_exact stands for: exponent field and mantissa of a BF16 number (mantissa_bits 7) or
/// an FP32 number (23), its sign left out.
inline float luq_scale(std::uint32_t scale, int mantissa_bits) {
  return std::bit_cast<float>(scale << (23 - mantissa_bits));
}

/// The alphas that ng_quantize_luq_exact takes: normal numbers, 2^-126 and more. Others are refused: special_o.
inline bool is_luq_scale(float alpha) { return std::isnormal(alpha) && alpha > 0; }

/// Code of a BF16 code under `alpha`, of `levels` 7 or 8: luq_code()'s of a number. What exceeds the largest level
/// saturates, infinities too. A NaN, or an alpha that is refused, gives the largest number: 7, or 8 with 8 levels.
/// `stochastic`: by `random`, random_bits 1 to 24 of them; otherwise to the nearest power (RDNP).
inline std::uint8_t quantize_luq_exact(std::uint16_t x, float alpha, int levels, bool stochastic, std::uint32_t random,
                                       int random_bits = 8) {
  const float number = std::bit_cast<float>(std::uint32_t{x} << 16);
  if (std::isnan(number) || !is_luq_scale(alpha)) return static_cast<std::uint8_t>(levels);
  return luq_code(number, alpha, levels, stochastic ? LuqRounding::stochastic : LuqRounding::nearest_power, random,
                  random_bits);
}

}  // namespace narrowgauge
