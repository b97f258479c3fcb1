// SPDX-License-Identifier: Apache-2.0
// The register of a shift-add multiplier (RTL twin: rtl/mac/ng_int_mult_serial.sv).
#pragma once

#include "narrowgauge/mac/int_mac.hpp"

namespace narrowgauge {

/// The register after `steps` steps, 0 to b's width: above the bits of b that are to come, a times those that have
/// been; a.width + b.width bits. 0 steps: b alone. All: the product.
constexpr std::uint32_t serial_register(const IntFormat& a_format, std::uint32_t a, const IntFormat& b_format,
                                        std::uint32_t b, int steps) {
  const int to_come = b_format.width - steps;
  const IntFormat done{.width = steps, .is_signed = b_format.is_signed && to_come == 0};
  const std::int64_t sum = steps == 0 ? 0 : int_product(a_format, a, done, b);
  const auto bits = static_cast<std::uint64_t>(sum) << to_come | (b & b_format.mask()) >> steps;
  return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << (a_format.width + b_format.width)) - 1));
}

}  // namespace narrowgauge
