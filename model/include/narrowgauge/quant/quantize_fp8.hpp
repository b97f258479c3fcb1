// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_fp8: the rule of docs/quantizers.md for FP8 under a scale that is a power of two, with
// the special numbers of `saturate` (docs/numerics.md, Overflow and NaN).
#pragma once

#include <bit>
#include <cstdint>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

/// A BF16 code over 2^(scale - 127), rounded to `format`, e4m3 or e5m2: to nearest even, or stochastic with `random`
/// below 2^random_bits, 1 to 24. What exceeds the largest number saturates, infinities too; a NaN gives 0x7F, as all
/// does under a scale of NaN (0xFF) or, if not `tiny_scales`, below 2^-111 (16).
inline std::uint8_t quantize_fp8(std::uint16_t x, std::uint8_t scale, Format format, bool stochastic,
                                 std::uint32_t random, int random_bits = 8, bool tiny_scales = true) {
  if (scale == 0xFF || (!tiny_scales && scale < 16)) return 0x7F;
  const RoundOptions options{.rounding = stochastic ? Rounding::stochastic : Rounding::nearest_even,
                             .random = random,
                             .random_bits = random_bits};
  const double number = std::bit_cast<float>(std::uint32_t{x} << 16);
  return static_cast<std::uint8_t>(encode(format, number / decode(Format::e8m0, scale), options));  // exact quotient
}

}  // namespace narrowgauge
