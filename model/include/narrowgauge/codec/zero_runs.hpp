// SPDX-License-Identifier: Apache-2.0
// Runs of zeros as symbols of their own, for rates below what a code of single values reaches (docs/codec.md, Zero
// runs).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace narrowgauge {

inline constexpr std::size_t zero_run_sizes = 7;  ///< runs of 2, 4, ... 128
inline constexpr std::size_t longest_zero_run = 255;

/// Slot k, a byte that no value of the map is, stands for 2^(k + 1) zeros. At most zero_run_sizes, all different, none
/// of them 0.
using ZeroRunSlots = std::vector<std::uint8_t>;

/// The lowest bytes that no value is, as many as there are up to zero_run_sizes.
ZeroRunSlots free_slots(std::span<const std::uint64_t, 256> counts);

/// The values with their runs of zeros replaced. A run is cut after longest_zero_run zeros, and each part becomes the
/// slots whose sizes sum up to it, the longest first; zeros that are left stay. Without slots nothing is replaced.
std::vector<std::uint8_t> shorten_runs(std::span<const std::uint8_t> values, std::span<const std::uint8_t> slots);
/// The values again; nothing if they are more than `most`.
std::optional<std::vector<std::uint8_t>> expand_runs(std::span<const std::uint8_t> tokens,
                                                     std::span<const std::uint8_t> slots, std::size_t most);

}  // namespace narrowgauge
