// SPDX-License-Identifier: Apache-2.0
// Fused multiply-add into FP32 (RTL twins: rtl/mac/ng_fma_fp32.sv, ng_fp_mac.sv, and with mac/mxfp4_mac.hpp
// ng_add_fp32.sv).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

/// FP32 code of a value; every NaN is 0x7FC00000.
inline std::uint32_t fp32_bits(float x) { return std::isnan(x) ? 0x7FC00000 : std::bit_cast<std::uint32_t>(x); }

/// a * b + c, rounded once to nearest even: a and b codes of a format that FP32 holds exactly (bf16, fp16, tf32, fp32),
/// c and the result FP32 codes. The host's fma, whatever its origin, is IEEE 754's.
inline std::uint32_t fma_fp32(const FormatDesc& format, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return fp32_bits(
      std::fma(static_cast<float>(decode(format, a)), static_cast<float>(decode(format, b)), std::bit_cast<float>(c)));
}

}  // namespace narrowgauge
