// SPDX-License-Identifier: Apache-2.0
// Dot products of MXFP4 blocks and their running FP32 sum, block by block as gemm() adds them (RTL twins:
// rtl/mac/ng_dot_mxfp4.sv, ng_mxfp4_mac.sv), and what both are made of for all MX formats (ng_scale_mx.sv,
// ng_acc_fp32.sv). Formats: docs/numerics.md, Block formats.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "narrowgauge/mac/fp_mac.hpp"

namespace narrowgauge {

/// FP32 code of a block's exact dot product, dot * 2^lsb_exp, times both E8M0 scales, rounded once to nearest even;
/// 0x7FC00000 if a scale is NaN (0xFF), and as fixed_to_fp32_bits() has it where `flags` are set.
constexpr std::uint32_t mx_term(__int128 dot, int lsb_exp, SumFlags flags, std::uint8_t a_scale, std::uint8_t b_scale) {
  const FormatDesc& scale = desc(Format::e8m0);
  flags.nan |= scale.is_nan(a_scale) || scale.is_nan(b_scale);
  return fixed_to_fp32_bits(dot, lsb_exp + a_scale + b_scale - 2 * scale.bias, flags);
}

/// FP32 code of the dot product of two blocks of E2M1 codes (at most 32 elements, equal lengths, else Error) times both
/// E8M0 scales, rounded once to nearest even; 0x7FC00000 if a scale is NaN (0xFF).
inline std::uint32_t mxfp4_dot(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::uint8_t a_scale,
                               std::uint8_t b_scale) {
  return mx_term(e2m1_dot(a, b), -2, {}, a_scale, b_scale);
}

/// FP32 code of sum + term, rounded to nearest even.
inline std::uint32_t mx_add(std::uint32_t sum, std::uint32_t term) {
  return fp32_bits(std::bit_cast<float>(sum) + std::bit_cast<float>(term));
}

}  // namespace narrowgauge
