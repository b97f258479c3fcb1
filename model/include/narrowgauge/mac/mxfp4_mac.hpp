// SPDX-License-Identifier: Apache-2.0
// Dot products of MXFP4 blocks and their running FP32 sum, block by block as gemm() adds them (RTL twins:
// rtl/mac/ng_dot_mxfp4.sv, ng_mxfp4_mac.sv). Formats: docs/numerics.md, Block formats.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "narrowgauge/mac/fp_mac.hpp"

namespace narrowgauge {

/// FP32 code of the dot product of two blocks of E2M1 codes (at most 32 elements, equal lengths, else Error) times both
/// E8M0 scales, rounded once to nearest even; 0x7FC00000 if a scale is NaN (0xFF).
inline std::uint32_t mxfp4_dot(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::uint8_t a_scale,
                               std::uint8_t b_scale) {
  const FormatDesc& scale = desc(Format::e8m0);
  const int dot = e2m1_dot(a, b);  // in 2^-2
  const double term = dot * 0x1p-2 * (decode(scale, a_scale) * decode(scale, b_scale));
  return fp32_bits(static_cast<float>(term));
}

/// FP32 code of sum + term, rounded to nearest even.
inline std::uint32_t mxfp4_add(std::uint32_t sum, std::uint32_t term) {
  return fp32_bits(std::bit_cast<float>(sum) + std::bit_cast<float>(term));
}

}  // namespace narrowgauge
