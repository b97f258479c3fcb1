// SPDX-License-Identifier: Apache-2.0
// What the ways of pruning a matrix share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "narrowgauge/sparse/prune.hpp"

namespace narrowgauge::detail {

/// Magnitudes of a block as multiples of 2^result, cut toward zero; the largest has its leading one at bit `top`, at
/// least 23.
int align(std::span<const float> block, int top, std::span<std::uint64_t> magnitudes);

/// Refuses what cannot be pruned to a pattern: sizes that do not fit, NaN and infinity.
void check_prunable(std::span<const float> x, std::size_t rows, std::size_t cols, const NmPattern& pattern);

}  // namespace narrowgauge::detail
