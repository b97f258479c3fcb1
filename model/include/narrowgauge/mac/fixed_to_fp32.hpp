// SPDX-License-Identifier: Apache-2.0
// The end of every exact sum: one rounding to FP32 (RTL twin: rtl/mac/ng_fixed_to_fp32.sv).
#pragma once

#include <bit>
#include <cstdint>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

/// What an exact accumulator cannot hold as an integer; sticky over the terms of a sum.
struct SumFlags {
  bool nan = false;
  bool pinf = false;
  bool ninf = false;

  constexpr SumFlags& operator|=(const SumFlags& other) {
    nan |= other.nan;
    pinf |= other.pinf;
    ninf |= other.ninf;
    return *this;
  }
  friend constexpr bool operator==(const SumFlags&, const SumFlags&) = default;
};

/// FP32 code of fixed * 2^lsb_exp, rounded once to nearest even. NaN, or both infinities, give 0x7FC00000; one infinity
/// gives its own code; a zero sum is +0.
constexpr std::uint32_t fixed_to_fp32_bits(__int128 fixed, int lsb_exp, const SumFlags& flags = {}) {
  constexpr FormatDesc fp32 = desc(Format::fp32);
  if (flags.nan || (flags.pinf && flags.ninf)) return encode_nan(fp32, false, Overflow::ieee);
  if (flags.pinf || flags.ninf) return encode_inf(fp32, flags.ninf, Overflow::ieee);
  const bool negative = fixed < 0;
  auto magnitude = negative ? -static_cast<unsigned __int128>(fixed) : static_cast<unsigned __int128>(fixed);
  std::uint64_t sticky = 0;
  for (; magnitude >> 64 != 0; magnitude >>= 1, ++lsb_exp) sticky |= static_cast<std::uint64_t>(magnitude & 1);
  return round_pack(fp32, negative, lsb_exp, static_cast<std::uint64_t>(magnitude) | sticky,
                    {.overflow = Overflow::ieee});
}

/// The sum as a float: fixed_to_fp32_bits() has its bits.
constexpr float fixed_to_fp32(__int128 fixed, int lsb_exp, const SumFlags& flags = {}) {
  return std::bit_cast<float>(fixed_to_fp32_bits(fixed, lsb_exp, flags));
}

}  // namespace narrowgauge
