// SPDX-License-Identifier: Apache-2.0
// Blocks of NVFP4 with two kinds of elements: the sign bit of a block's E4M3 scale, which NVFP4 leaves unused, says
// which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace narrowgauge {

inline constexpr std::size_t flagged_block = 16;
inline constexpr std::uint8_t block_flag = 0x80;  ///< of a block's scale; without it, elements are E2M1

/// Blocks of 16 numbers, one after the other.
struct FlaggedBlocks {
  float amax = 0;                   ///< the largest magnitude of all numbers, from which the tensor's scale follows; 0,
                                    ///< or at least what keeps that scale a normal number
  std::vector<std::uint8_t> codes;  ///< a byte each
  std::vector<std::uint8_t> scales;  ///< a byte a block: E4M3, with `block_flag`
};

}  // namespace narrowgauge
