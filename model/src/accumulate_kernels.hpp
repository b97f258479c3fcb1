// SPDX-License-Identifier: Apache-2.0
// The inner loops of accumulate.cpp: one row of A, a panel of `lanes` columns of B, some steps of the contraction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace narrowgauge::detail {

/// Columns of a panel of B, innermost in its arrays.
inline constexpr std::size_t lanes = 32;
/// Products of one group of FP4, and of one step of single products.
inline constexpr std::size_t group_length = 16, step_length = 32;

/// A chunk of an operand, `Lanes` vectors side by side: 1 of A, `lanes` of B. Only finite numbers.
struct Chunk {
  // Groups of FP4: codes are twice their values; a scale and its exponent label a group.
  const std::int16_t* twice = nullptr;
  const double* scale = nullptr;
  const std::int32_t* scale_label = nullptr;
  // Single products: values, their exponent labels, and the labels of block scales, a power of two a step.
  const float* value = nullptr;
  const std::int16_t* label = nullptr;
  const std::int32_t* step_label = nullptr;
};

/// `steps` steps of one row and one panel; `c`, `lanes` numbers, is what they add to.
struct Steps {
  Chunk a, b;
  std::size_t steps = 0;
  int bits = 0;  ///< fraction bits kept when terms are aligned
  int man = 0;   ///< mantissa bits of the result
  float* c = nullptr;
};

struct AccumulateKernels {
  std::string_view isa;
  void (*groups)(const Steps&);        ///< four groups a step: MmaRule with `group` 16
  void (*singles)(const Steps&);       ///< MmaRule with `group` 1
  void (*chain_blocks)(const Steps&);  ///< a step is a block: its exact sum times the scales, added in FP32
  void (*chain_steps)(const Steps&);   ///< a step's products added in FP32, the sum times 2^label, added in FP32
  void (*chain)(const Steps&);         ///< products added in FP32
  void (*odd)(const Steps&);           ///< a step bulk-normalized and added, rounding to odd
};

/// Those of the instruction set that kernels() has chosen.
const AccumulateKernels& accumulate_kernels();

}  // namespace narrowgauge::detail
