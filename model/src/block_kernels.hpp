// SPDX-License-Identifier: Apache-2.0
// Inner loops over small blocks of float32 (sparsity, Hadamard transforms), compiled once per instruction set
// (block_kernels.inc) and chosen as kernels() are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace narrowgauge::detail {

struct BlockKernels {
  /// Of `blocks` 4 x 4 blocks side by side in a matrix of `cols` columns: the mask that transposable_mask_2_4() finds
  /// of magnitudes whose largest has its leading one at bit `top`, 23 to 57, as bytes of a matrix of the same columns.
  void (*transposable_2_4)(const float* x, std::size_t cols, std::size_t blocks, int top, std::uint8_t* mask);
  /// mvue_2_4() and mvue_1_2() of `groups` groups of four or two neighbours, as prune() calls them: values and masks.
  /// `random` has a word of `bits` bits a group. False where a result lies outside the normal numbers; what is written
  /// then is not to be used.
  bool (*mvue_2_4)(const float* x, std::size_t groups, const std::uint32_t* random, int bits, float* values,
                   std::uint8_t* mask);
  bool (*mvue_1_2)(const float* x, std::size_t groups, const std::uint32_t* random, int bits, float* values,
                   std::uint8_t* mask);
  /// hadamard() of `groups` groups of 16 (multiplier 1, exponent -2; of each group the elements that rht16_signs names
  /// are negated before) or of 128 (181, -11). x and out may be the same. False, and nothing is written, where the
  /// exponents of all groups together lie too far apart to say at a glance that doubles are exact.
  bool (*hadamard_16)(const float* x, std::size_t groups, float* out);
  bool (*hadamard_128)(const float* x, std::size_t groups, float* out);
  /// Masks of the n largest of m neighbours of each of `groups` groups, the lower index among equals.
  void (*largest)(const float* x, std::size_t groups, int n, int m, std::uint8_t* mask);
};

/// The kernels for this machine; the instruction set is that of kernels().
const BlockKernels& block_kernels();

}  // namespace narrowgauge::detail
