// SPDX-License-Identifier: Apache-2.0
// Transposable masks of the largest sum, by a flow of least cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/sparse/prune.hpp"

namespace narrowgauge {

/// The mask of a transposable pattern with exactly N in every row and column of each M x M block, and of these one with
/// the largest sum. Magnitudes count as multiples of 2^-40 of the power of two below the block's largest, cut toward
/// zero. Which of equal masks is taken is not specified. One byte an element, 0 or 1. Throws Error as
/// transposable_mask() does.
std::vector<std::uint8_t> transposable_mask_exact(std::span<const float> x, std::size_t rows, std::size_t cols,
                                                  const NmPattern& pattern);

}  // namespace narrowgauge
