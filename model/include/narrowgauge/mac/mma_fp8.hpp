// SPDX-License-Identifier: Apache-2.0
// One output of one matrix instruction for FP8, as ng_mma_fp8 computes it; accumulate.hpp has whole products.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/mac/accumulate.hpp"

namespace narrowgauge {

/// FP32 code of D = A x B + C of 32 pairs of codes of these formats, E4M3 or E5M2, by a rule of 32 products.
inline std::uint32_t mma_fp8(const std::array<std::uint8_t, 32>& a, const std::array<std::uint8_t, 32>& b,
                             Format a_format, Format b_format, std::uint32_t c, const MmaRule& rule) {
  std::array<std::uint16_t, 32> left, right;
  std::copy(a.begin(), a.end(), left.begin());
  std::copy(b.begin(), b.end(), right.begin());
  const auto operand = [](std::span<const std::uint16_t> codes, Format format) {
    return MmaOperand{.element = format, .rows = 1, .k = 32, .codes = codes};
  };
  const float start = std::bit_cast<float>(c);
  return std::bit_cast<std::uint32_t>(
      mma(operand(left, a_format), operand(right, b_format), std::span(&start, 1), rule, 1).front());
}

}  // namespace narrowgauge
