// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_smooth_channel: the scaling of Smooth-SwiGLU ("Scaling FP8 Training to Trillion-Token LLMs", arXiv
// 2409.12517) channel by channel, by powers of two, on BF16 codes; the scales go into the next weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/quant/smooth_scale.hpp"

namespace narrowgauge {

/// E8M0 scales of the channels of a block: rows of `channels` BF16 codes each, the scale of channel i that of
/// smooth_scale of number i of every row.
inline std::vector<std::uint8_t> smooth_channel_scales(std::span<const std::uint16_t> block, std::size_t channels) {
  std::vector<std::uint8_t> scales(channels);
  std::vector<std::uint16_t> channel(channels == 0 ? 0 : block.size() / channels);
  for (std::size_t i = 0; i < channels; ++i) {
    for (std::size_t row = 0; row < channel.size(); ++row) channel[row] = block[row * channels + i];
    scales[i] = smooth_scale(channel);
  }
  return scales;
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

/// x / 2^(scale - 127), of an activation; of a number that was measured it is smooth_divide.
constexpr std::uint16_t smooth_channel_divide(std::uint16_t x, std::uint8_t scale) {
  return smooth_shift(x, 127 - scale);
}

/// x 2^(scale - 127), of a weight in the channel's row of the next matrix.
constexpr std::uint16_t smooth_channel_multiply(std::uint16_t x, std::uint8_t scale) {
  return smooth_shift(x, scale - 127);
}

}  // namespace narrowgauge
