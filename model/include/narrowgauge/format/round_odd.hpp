// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_fp32_to_bf16_odd: rounding to odd (S. Boldo and G. Melquiond, "When double rounding is odd",
// 2005).
#pragma once

#include <cstdint>

namespace narrowgauge {

/// An FP32 code as a BF16 code: itself where it is one, else the neighbour whose last bit is 1. So the result is on the
/// same side of every BF16 number with an even code as the FP32 number is, and equal to one only where that is.
/// Nothing becomes zero, no finite number infinity; infinities and NaNs stay what they are.
constexpr std::uint16_t fp32_to_bf16_odd(std::uint32_t fp32) {
  return static_cast<std::uint16_t>(fp32 >> 16 | ((fp32 & 0xFFFF) != 0 ? 1 : 0));
}

}  // namespace narrowgauge
