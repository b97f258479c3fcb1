// SPDX-License-Identifier: Apache-2.0
// IF4 (Adaptive Block-Scaled Data Types, arXiv 2603.28765): NVFP4's blocks of 16, each of E2M1 or of INT4 elements. The
// sign bit of a block's E4M3 scale, which NVFP4 leaves unused, is set for INT4. (docs/dialects.md, IF4)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/quant/flagged_blocks.hpp"

namespace narrowgauge {

inline constexpr std::size_t if4_block = flagged_block;
inline constexpr std::uint8_t if4_integer = block_flag;  ///< the bit of a block's scale that says INT4

/// Which errors of a block decide between E2M1 and INT4; equal ones choose E2M1.
enum class If4Choice : std::uint8_t {
  mse,      ///< sum of squares, each rounded to FP32
  mae,      ///< sum of magnitudes
  largest,  ///< the largest magnitude
};

/// Codes are E2M1, or INT4 in two's complement (never -8). amax is 0 or at least 0x1.500002p-117, so that 2688 / amax
/// is finite.
using If4Blocks = FlaggedBlocks;

/// Quantizes by the FP32 sequence of the package fouroversix. Throws Error, naming index and value, on NaN or infinity,
/// and on a length that is not a multiple of 16.
If4Blocks if4_quantize(std::span<const float> x, If4Choice choice = If4Choice::mse, unsigned threads = 0);

/// The values whose errors `if4_quantize` compares: fl(fl(fl(q s) amax) / 2688), the numerator of INT4 times fl(6/7).
/// Throws Error on sizes that do not fit, codes beyond 4 bits, and the scales 0x7F and 0xFF, which are NaN.
std::vector<float> if4_dequantize(std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales, float amax,
                                  unsigned threads = 0);

}  // namespace narrowgauge
