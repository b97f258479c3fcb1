// SPDX-License-Identifier: Apache-2.0
// HiFloat4 (HiF4, arXiv 2602.11287): blocks of 64 numbers of 4 bits, with a scale in E6M2 and two levels of exponents
// of one bit, for 8 and for 4 numbers: 4.5 bits a number. (docs/dialects.md, HiFloat4)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

inline constexpr std::size_t hif4_block = 64;

/// Blocks of 64 numbers, one after the other. Number i of a block is
/// q 2^(level2[i / 8] + level3[i / 4]) scale, with bits counted from the least.
struct Hif4Blocks {
  std::vector<std::uint8_t> codes;    ///< a byte each, S1P2: a sign, 8, and quarters, 0 to 7
  std::vector<std::uint8_t> scales;   ///< a byte a block, E6M2: six bits of exponent + 48, two of mantissa; 0xFF is NaN
  std::vector<std::uint8_t> level2;   ///< a bit for each 8 numbers
  std::vector<std::uint16_t> level3;  ///< a bit for each 4 numbers
};

/// Quantizes by the authors' sequence: BF16 scales and reciprocals, the rest in FP32. Throws Error, naming index and
/// value, on NaN or infinity, and on a length that is not a multiple of 64.
Hif4Blocks hif4_quantize(std::span<const float> x, unsigned threads = 0);

/// The values, exact in FP32. Throws Error on sizes that do not fit, codes beyond 4 bits, and the scale 0xFF.
std::vector<float> hif4_dequantize(std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                                   std::span<const std::uint8_t> level2, std::span<const std::uint16_t> level3,
                                   unsigned threads = 0);

}  // namespace narrowgauge
