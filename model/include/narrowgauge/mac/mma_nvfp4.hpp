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

/// FP32 code of D = A x B + C of 64 pairs of E2M1 codes by the rule blackwell_64: with a pair of UE4M3 scales each 16
/// (NVFP4), or of E8M0 scales each 32 (MXFP4).
template <std::size_t scales>
std::uint32_t mma_fp4(const std::array<std::uint8_t, 64>& a, const std::array<std::uint8_t, 64>& b,
                      const std::array<std::uint8_t, scales>& a_scales,
                      const std::array<std::uint8_t, scales>& b_scales, std::uint32_t c) {
  static_assert(scales == 2 || scales == 4);
  std::array<std::uint16_t, 64> left, right;
  std::copy(a.begin(), a.end(), left.begin());
  std::copy(b.begin(), b.end(), right.begin());
  const auto operand = [](std::span<const std::uint16_t> codes, std::span<const std::uint8_t> all_scales) {
    return MmaOperand{.rows = 1,
                      .k = 64,
                      .codes = codes,
                      .block = 64 / scales,
                      .scale = scales == 2 ? Format::e8m0 : Format::ue4m3,
                      .scales = all_scales};
  };
  const float start = std::bit_cast<float>(c);
  return std::bit_cast<std::uint32_t>(
      mma(operand(left, a_scales), operand(right, b_scales), std::span(&start, 1), blackwell_64, 1).front());
}

/// FP32 code of D with NVFP4 operands: a UE4M3 scale each 16 codes.
inline std::uint32_t mma_nvfp4(const std::array<std::uint8_t, 64>& a, const std::array<std::uint8_t, 64>& b,
                               const std::array<std::uint8_t, 4>& a_scales, const std::array<std::uint8_t, 4>& b_scales,
                               std::uint32_t c) {
  return mma_fp4(a, b, a_scales, b_scales, c);
}

/// FP32 code of D with MXFP4 operands: an E8M0 scale each 32 codes.
inline std::uint32_t mma_mxfp4(const std::array<std::uint8_t, 64>& a, const std::array<std::uint8_t, 64>& b,
                               const std::array<std::uint8_t, 2>& a_scales, const std::array<std::uint8_t, 2>& b_scales,
                               std::uint32_t c) {
  return mma_fp4(a, b, a_scales, b_scales, c);
}

}  // namespace narrowgauge
