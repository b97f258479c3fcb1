// SPDX-License-Identifier: Apache-2.0
// Metadata of 2:4 sparsity: a nibble a group of four, as the sparse matrix instructions of NVIDIA's GPUs have it (PTX
// ISA, mma.sp). The two kept positions are ascending, two bits each, the first one in the low bits. RTL twins:
// rtl/sparse/ng_compress_group.sv, ng_decompress_2_4.sv, ng_select_2_4.sv.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace narrowgauge {

/// Positions 0 and 1, which an empty group keeps.
inline constexpr std::uint8_t metadata_of_none = 0b0100;

/// Whether a nibble names two ascending positions: six of sixteen do.
constexpr bool is_metadata(unsigned nibble) { return nibble < 16 && (nibble & 3) < (nibble >> 2); }

/// The nibble of a mask of four (bit i: position i is kept) with at most two bits. Missing ones are the lowest
/// positions that are not kept; the values stored for them are zeros.
constexpr std::uint8_t metadata_of(unsigned mask) {
  for (unsigned i = 0; std::popcount(mask) < 2; ++i) mask |= 1U << i;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const auto second = static_cast<unsigned>(std::bit_width(mask)) - 1;
  return static_cast<std::uint8_t>(second << 2 | first);
}

/// The mask of a nibble for which is_metadata() holds.
constexpr unsigned mask_of_metadata(unsigned nibble) { return 1U << (nibble & 3) | 1U << (nibble >> 2 & 3); }

/// What ng_select_2_4 selects for any nibble: both positions of a legal one; elements of the same group for any other.
constexpr std::array<unsigned, 2> selected_positions(unsigned nibble) {
  return {(nibble & 2) != 0 ? 2U : nibble & 1, (nibble & 4) == 0 ? 2U : (nibble & 8) != 0 ? 3U : 1U};
}

}  // namespace narrowgauge
