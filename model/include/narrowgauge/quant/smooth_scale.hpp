// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_smooth_token: the scaling of Smooth-SwiGLU ("Scaling FP8 Training to Trillion-Token LLMs",
// arXiv 2409.12517) by powers of two, on BF16 codes. Infinities and NaNs have no say in a scale and pass
// as they are; subnormal numbers count as zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace narrowgauge {

/// E8M0 scale of BF16 codes: 2^floor(log2(amax)) of the finite numbers, as the byte of biased exponents 1 to 254; 1,
/// the byte 127, where there are only zeros and subnormals.
constexpr std::uint8_t smooth_scale(std::span<const std::uint16_t> x) {
  unsigned largest = 0;
  for (const std::uint16_t code : x) {
    const unsigned exponent = code >> 7 & 0xFF;
    if (exponent != 255) largest = std::max(largest, exponent);
  }
  return static_cast<std::uint8_t>(largest == 0 ? 127 : largest);
}

/// BF16 code of x 2^power, power -254 to 254: exact, but for results below 2^-126, which are zeros with the sign of x,
/// as subnormal x are, and results from 2^128 on, which are infinities. Infinities and NaNs stay as they are.
constexpr std::uint16_t smooth_shift(std::uint16_t x, int power) {
  const int exponent = x >> 7 & 0xFF;
  if (exponent == 255) return x;
  const int moved = exponent + power;
  if (exponent == 0 || moved <= 0) return x & 0x8000;
  if (moved >= 255) return static_cast<std::uint16_t>((x & 0x8000) | 0x7F80);
  return static_cast<std::uint16_t>((x & 0x807F) | moved << 7);
}

/// x / 2^(scale - 127); under the scale of x itself, or a larger one, no result is beyond the largest number.
constexpr std::uint16_t smooth_divide(std::uint16_t x, std::uint8_t scale) { return smooth_shift(x, 127 - scale); }

/// x 2^(scale - 127), of a weight in the row of a channel that was divided.
constexpr std::uint16_t smooth_multiply(std::uint16_t x, std::uint8_t scale) { return smooth_shift(x, scale - 127); }

}  // namespace narrowgauge
