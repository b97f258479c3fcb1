// SPDX-License-Identifier: Apache-2.0
// One step of RISC-V's bulk-normalized dot products, as ng_mma_rvbna computes it; accumulate.hpp has whole products.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/mac/accumulate.hpp"

namespace narrowgauge {

/// D = A x B + C of one step, rows of A x rows of B: each has 32 codes of E4M3 or E5M2. `c` is empty for zeros.
inline std::vector<float> mma_rvbna(const MmaOperand& a, const MmaOperand& b, std::span<const float> c) {
  const auto matrix = [](const MmaOperand& m) {
    QuantizedMatrix q;
    q.scheme = Scheme::fp8;
    q.element = m.element;
    q.rows = m.rows;
    q.k = q.k_padded = m.k;
    q.codes.assign(m.codes.begin(), m.codes.end());
    return q;
  };
  return accumulate_sums(matrix(a), matrix(b), Accumulation::rvbna, c, 1);
}

/// FP32 code of one output.
inline std::uint32_t mma_rvbna(const std::array<std::uint8_t, 32>& a, const std::array<std::uint8_t, 32>& b,
                               Format a_format, Format b_format, std::uint32_t c) {
  const std::vector<std::uint16_t> left(a.begin(), a.end()), right(b.begin(), b.end());
  const auto operand = [](std::span<const std::uint16_t> codes, Format format) {
    return MmaOperand{.element = format, .rows = 1, .k = 32, .codes = codes};
  };
  const float start = std::bit_cast<float>(c);
  return std::bit_cast<std::uint32_t>(
      mma_rvbna(operand(left, a_format), operand(right, b_format), std::span(&start, 1)).front());
}

}  // namespace narrowgauge
