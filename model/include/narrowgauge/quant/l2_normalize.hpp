// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_l2_normalize: the L2 normalization of nGPT ("Normalized Architectures are Natively 4-Bit", arXiv
// 2605.06067), y = x rsqrt(sum x^2 + eps) in FP32, with the order of its roundings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "narrowgauge/format/format.hpp"
#include "narrowgauge/mac/fp_mac.hpp"
#include "narrowgauge/mac/rsqrt_fp32.hpp"

namespace narrowgauge {

/// FP32 code of 1e-6, nGPT's epsilon.
inline constexpr std::uint32_t l2_epsilon = 0x358637BD;

/// epsilon + sum x^2 of FP32 codes: s_0 = epsilon, s_i = x_i x_i + s_(i-1), each rounded once (fused), in the order of
/// x.
inline std::uint32_t sum_of_squares(std::span<const std::uint32_t> x, std::uint32_t epsilon = l2_epsilon) {
  std::uint32_t sum = epsilon;
  for (const std::uint32_t code : x) sum = fma_fp32(desc(Format::fp32), code, code, sum);
  return sum;
}

/// y_i = fl(x_i r), r = rsqrt_fp32(sum_of_squares(x)), of FP32 codes; y as long as x, and may be x. A finite row whose
/// sum overflows becomes zeros, one with an infinity zeros and NaN in its place, one with a NaN all NaN (0x7FC00000).
inline void l2_normalize(std::span<const std::uint32_t> x, std::span<std::uint32_t> y,
                         std::uint32_t epsilon = l2_epsilon) {
  constexpr std::uint32_t minus_zero = 0x80000000;  // keeps the sign of a product that is zero
  const std::uint32_t root = rsqrt_fp32(sum_of_squares(x, epsilon));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = fma_fp32(desc(Format::fp32), x[i], root, minus_zero);
}

}  // namespace narrowgauge
