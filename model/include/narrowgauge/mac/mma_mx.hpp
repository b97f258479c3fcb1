// SPDX-License-Identifier: Apache-2.0
// One output of one matrix instruction for MX blocks, as ng_mma_mx computes it; accumulate.hpp has whole products.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/mac/accumulate.hpp"
#include "narrowgauge/quant/format_set.hpp"

namespace narrowgauge {

/// The elements that a format port of ng_mma_mx means: `formats` is its set, 0 all elements of MX.
constexpr Format mx_format(unsigned formats, unsigned port) {
  constexpr std::array<Format, 8> all{Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2,
                                      Format::e2m1, Format::e2m1, Format::e2m1, Format::e2m1};
  if (formats == 0) return all[port & 7];
  const bool e5m2 = formats == format_set::fp8 ? (port & 1) != 0 : formats == format_set::e5m2;
  return e5m2 ? Format::e5m2 : Format::e4m3;
}

/// The lowest value of a format port that means these elements, where the set is 0 or has FP8 only.
constexpr unsigned mx_port(Format format) {
  unsigned port = 0;
  while (port < 7 && mx_format(0, port) != format) ++port;
  return port;
}

/// FP32 code of D = A x B + C of 32 pairs of codes of these formats, of at most 8 bits, with an E8M0 scale each, by the
/// rule blackwell_32. Bits above a narrow code are ignored.
inline std::uint32_t mma_mx(const std::array<std::uint8_t, 32>& a, const std::array<std::uint8_t, 32>& b,
                            Format a_format, Format b_format, std::uint8_t a_scale, std::uint8_t b_scale,
                            std::uint32_t c) {
  std::array<std::uint16_t, 32> left, right;
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = a[i] & ((1U << desc(a_format).bits) - 1);
    right[i] = b[i] & ((1U << desc(b_format).bits) - 1);
  }
  const auto operand = [](std::span<const std::uint16_t> codes, Format format, const std::uint8_t& scale) {
    return MmaOperand{.element = format,
                      .rows = 1,
                      .k = 32,
                      .codes = codes,
                      .block = 32,
                      .scale = Format::e8m0,
                      .scales = std::span(&scale, 1)};
  };
  const float start = std::bit_cast<float>(c);
  return std::bit_cast<std::uint32_t>(
      mma(operand(left, a_format, a_scale), operand(right, b_format, b_scale), std::span(&start, 1), blackwell_32, 1)
          .front());
}

}  // namespace narrowgauge
