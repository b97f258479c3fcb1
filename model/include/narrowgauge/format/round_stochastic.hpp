// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_fp32_to_bf16_sr: FP32 rounded to BF16 stochastically, with as many random bits as it loses.
#pragma once

#include <cstdint>

namespace narrowgauge {

/// An FP32 code as a BF16 code: with d the share of the way from the BF16 number below to the one above that the
/// magnitude lies, 16 bits, the one above if d 2^16 + random >= 2^16. So the expectation over all 65536 words is the
/// FP32 number, exactly, and what BF16 has stays. No finite number becomes infinity: what lies above the largest BF16
/// number is that. Infinities stay what they are, and so do NaNs, but for their lower half, which the last bit stands
/// for.
constexpr std::uint16_t fp32_to_bf16_sr(std::uint32_t fp32, std::uint16_t random) {
  const std::uint32_t upper = fp32 >> 16, lower = fp32 & 0xFFFF;
  if ((upper & 0x7F80) == 0x7F80) return static_cast<std::uint16_t>(upper | (lower != 0 ? 1 : 0));
  const bool up = lower + random >= 0x10000 && (upper & 0x7FFF) != 0x7F7F;
  return static_cast<std::uint16_t>(upper + (up ? 1 : 0));
}

}  // namespace narrowgauge
