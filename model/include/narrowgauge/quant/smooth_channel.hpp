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

}  // namespace narrowgauge
