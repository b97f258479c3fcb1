// SPDX-License-Identifier: Apache-2.0
// MixFP4 (arXiv 2605.31035): NVFP4's blocks of 16, each of E2M1 or of E1M2 elements. The sign bit of a block's E4M3
// scale is set for E1M2. (docs/dialects.md, MixFP4)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/quant/flagged_blocks.hpp"

namespace narrowgauge {

inline constexpr std::size_t mixfp4_block = flagged_block;
inline constexpr std::uint8_t mixfp4_e1m2 = block_flag;  ///< the bit of a block's scale that says E1M2

/// Codes are E2M1, or E1M2, whose magnitudes count as 0 to 7. amax is 0 or at least 0x1.5p-115, so that amax / 2688 is
/// a normal number.
using MixFp4Blocks = FlaggedBlocks;

/// Quantizes by the paper's algorithm 1, each operation rounded to FP32. Throws Error, naming index and value, on NaN
/// or infinity, and on a length that is not a multiple of 16.
MixFp4Blocks mixfp4_quantize(std::span<const float> x, unsigned threads = 0);

/// fl(fl(q s) fl(amax / 2688)). Throws Error on sizes that do not fit, codes beyond 4 bits, and the scales 0x7F and
/// 0xFF, which are NaN.
std::vector<float> mixfp4_dequantize(std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                                     float amax, unsigned threads = 0);

}  // namespace narrowgauge
