// SPDX-License-Identifier: Apache-2.0
// Exact dot product of NVFP4 blocks as one integer (RTL twins: rtl/mac/ng_dot_e2m1.sv, ng_scale_nvfp4.sv,
// ng_dot_nvfp4.sv). Formats and widths: docs/numerics.md, Exact sums.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/format.hpp"

namespace narrowgauge {

/// Unit 2^-2 of e2m1_dot: the least non-zero product of two E2M1 numbers, 1/2 * 1/2.
inline constexpr int e2m1_dot_lsb_exp = -2;
/// Unit 2^-20 of nvfp4_term: that of e2m1_dot times the least non-zero product of two scales, 2^-9 * 2^-9.
inline constexpr int nvfp4_lsb_exp = -20;

/// value / 2^lsb_exp of a finite code; lsb_exp is that of the format's least subnormal number.
constexpr int fixed_of(const FormatDesc& format, unsigned code) {
  const int field = static_cast<int>((code & format.payload_mask()) >> format.man_bits);
  const int fraction = static_cast<int>(code & ((1U << format.man_bits) - 1));
  const int magnitude = field == 0 ? fraction : (fraction + (1 << format.man_bits)) << (field - 1);
  return format.is_negative(code) ? -magnitude : magnitude;
}

/// sum_i a[i] * b[i] in units of 2^-2, for E2M1 codes (low four bits of a byte), exact up to 2^23 elements.
/// Throws Error if the lengths differ.
constexpr int e2m1_dot(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  if (a.size() != b.size())
    throw Error("e2m1_dot: a has " + std::to_string(a.size()) + " elements and b has " + std::to_string(b.size()) +
                "; expected equal lengths");
  int sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += fixed_of(desc(Format::e2m1), a[i]) * fixed_of(desc(Format::e2m1), b[i]);
  return sum;
}

/// An exact value * 2^nvfp4_lsb_exp; the value is 0 if nan is set.
struct Nvfp4Term {
  std::int64_t value = 0;
  bool nan = false;
};

/// dot (in units of 2^-2, |dot| <= 2304) times both UE4M3 scales, whose top bits are ignored; NaN if a scale is NaN.
constexpr Nvfp4Term nvfp4_scale(int dot, std::uint8_t a_scale, std::uint8_t b_scale) {
  constexpr FormatDesc scale = desc(Format::ue4m3);
  if (scale.is_nan(a_scale) || scale.is_nan(b_scale)) return {.value = 0, .nan = true};
  return {.value = std::int64_t{dot} * fixed_of(scale, a_scale) * fixed_of(scale, b_scale), .nan = false};
}

/// The product of two blocks of equal length, at most 16, with their scales: nvfp4_scale(e2m1_dot(a, b), a_scale,
/// b_scale). Throws Error if the lengths differ.
constexpr Nvfp4Term nvfp4_term(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::uint8_t a_scale,
                               std::uint8_t b_scale) {
  return nvfp4_scale(e2m1_dot(a, b), a_scale, b_scale);
}

}  // namespace narrowgauge
