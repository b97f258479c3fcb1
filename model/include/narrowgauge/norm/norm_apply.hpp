// SPDX-License-Identifier: Apache-2.0
// A normalization applied to INT8 codes in integers: y = code * multiplier + offset, exact, rounded once. Contract:
// docs/units/norm_apply.md. RTL twin: rtl/norm/ng_norm_apply.sv.
#pragma once

#include <algorithm>
#include <cstdint>

#include "narrowgauge/format/format.hpp"
#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

/// Of a channel, (code - mean) * m + b as integers.
struct NormFold {
  std::int16_t multiplier = 0;
  std::int32_t offset = 0;  ///< of 24 bits
};

/// code * multiplier + offset, of 25 bits.
constexpr std::int32_t norm_sum(const NormFold& fold, std::int8_t code) { return code * fold.multiplier + fold.offset; }

/// The sum times 2^-fraction_bits as INT8, to nearest even, saturated.
constexpr std::int8_t norm_to_int8(const NormFold& fold, int fraction_bits, std::int8_t code) {
  const std::int32_t sum = norm_sum(fold, code), floor = sum >> fraction_bits;
  const std::int32_t rest = sum - (floor << fraction_bits), half = 1 << (fraction_bits - 1);
  const std::int32_t rounded = floor + (rest > half || (rest == half && (floor & 1)));
  return static_cast<std::int8_t>(std::clamp(rounded, -128, 127));
}

/// The sum times 2^exponent as a BF16 code, to nearest even; exponent is -64 to 63.
constexpr std::uint16_t norm_to_bf16(const NormFold& fold, int exponent, std::int8_t code) {
  const std::int32_t sum = norm_sum(fold, code);
  const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  return static_cast<std::uint16_t>(round_pack(desc(Format::bf16), sum < 0, exponent, magnitude));
}

/// The integers of (code - mean) * m + b in units of 2^exponent: m rounded to nearest even, then the offset
/// b - mean * m with the rounded m. INT8 with fraction bits f has the exponent -f. Throws Error for numbers that are
/// not finite, an m beyond 16 bits and an offset beyond 24.
NormFold fold_norm(double mean, double m, double b, int exponent);

}  // namespace narrowgauge
