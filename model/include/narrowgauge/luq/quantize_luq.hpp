// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_luq: LUQ's quantizer on BF16 codes under an alpha that is a power of two. The rule for
// any alpha is luq_code() of luq/luq.hpp.
#pragma once

#include <bit>
#include <cstdint>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

/// Code of FP4 [1,3,0] (`e3m0`) of a BF16 code over alpha = 2^(scale - 127). `stochastic`: stochastic underflow below
/// alpha and logarithmic stochastic rounding above it, which are one rule on the grid 0, 1, 2, 4 to 64: up if and only
/// if floor(delta 2^random_bits) + random >= 2^random_bits, random_bits 1 to 24. Otherwise to the nearest power (RDNP).
/// What exceeds 64 alpha saturates, infinities too. A NaN, or a scale of NaN (0xFF), gives 7, the largest number.
inline std::uint8_t quantize_luq(std::uint16_t x, std::uint8_t scale, bool stochastic, std::uint32_t random,
                                 int random_bits = 8) {
  constexpr FormatDesc fp4 = desc(Format::e3m0);
  if (scale == 0xFF) return static_cast<std::uint8_t>(fp4.max_code());
  const RoundOptions options{.rounding = stochastic ? Rounding::stochastic : Rounding::nearest_even,
                             .random = random,
                             .random_bits = random_bits};
  const double number = std::bit_cast<float>(std::uint32_t{x} << 16);
  return static_cast<std::uint8_t>(encode(fp4, number / decode(Format::e8m0, scale), options));  // exact quotient
}

/// special_o of ng_quantize_luq: the BF16 code is an infinity or a NaN, for which FP4 [1,3,0] has no code.
constexpr bool is_special_bf16(std::uint16_t x) { return (x >> 7 & 0xFF) == 0xFF; }

}  // namespace narrowgauge
