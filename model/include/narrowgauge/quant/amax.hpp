// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_amax.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace narrowgauge {

/// Largest magnitude of a block of codes of `width` bits, sign on top: the code without its sign. NaNs, whose codes are
/// above those of all numbers, win. An empty block has 0.
constexpr std::uint32_t amax(std::span<const std::uint32_t> codes, int width) {
  const std::uint32_t mask = (1U << (width - 1)) - 1;
  std::uint32_t largest = 0;
  for (const std::uint32_t code : codes) largest = std::max(largest, code & mask);
  return largest;
}

}  // namespace narrowgauge
