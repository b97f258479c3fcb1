// SPDX-License-Identifier: Apache-2.0
// One output of one matrix instruction, as ng_mma_nvfp4 computes it; accumulate.hpp has whole products.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/mac/accumulate.hpp"

namespace narrowgauge {

/// FP32 code of D = A x B + C of 64 pairs of E2M1 codes with a pair of UE4M3 scales each 16, by the rule blackwell_64.
inline std::uint32_t mma_nvfp4(const std::array<std::uint8_t, 64>& a, const std::array<std::uint8_t, 64>& b,
                               const std::array<std::uint8_t, 4>& a_scales, const std::array<std::uint8_t, 4>& b_scales,
                               std::uint32_t c) {
  std::array<std::uint16_t, 64> left, right;
  std::copy(a.begin(), a.end(), left.begin());
  std::copy(b.begin(), b.end(), right.begin());
  const auto operand = [](std::span<const std::uint16_t> codes, std::span<const std::uint8_t> scales) {
    return MmaOperand{.rows = 1, .k = 64, .codes = codes, .block = 16, .scales = scales};
  };
  const float start = std::bit_cast<float>(c);
  return std::bit_cast<std::uint32_t>(
      mma(operand(left, a_scales), operand(right, b_scales), std::span(&start, 1), blackwell_64, 1).front());
}

}  // namespace narrowgauge
