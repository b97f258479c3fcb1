// SPDX-License-Identifier: Apache-2.0
// The golden matrix product of quantized operands: exact sums, rounded once. docs/gemm.md has the arithmetic.
#pragma once

#include <cmath>
#include <vector>

#include "narrowgauge/progress.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// Longest contraction of nvfp4 products: their int64 sums cannot overflow up to here (gemm.cpp has the bound).
inline constexpr std::size_t nvfp4_max_k = std::size_t{1} << 20;

/// Whether FP32 scales change along the contraction, so that they are part of the sums.
inline bool has_blocked_scales(const QuantizedMatrix& a, const QuantizedMatrix& b) {
  return is_blocked(a.scaling) || is_blocked(b.scaling);
}

/// What a sum is multiplied by, rounded after each factor.
struct EpilogueScales {
  float first, second;
};

/// The factors for FP32 scales of the operands: fl(a * b) and 1 where fl(a * b) is a normal number; else a, then b, for
/// their product alone would lose bits, or everything, where the results are still ordinary numbers.
inline EpilogueScales epilogue_scales(float a, float b) {
  const float alpha = a * b;
  return std::isnormal(alpha) ? EpilogueScales{alpha, 1.0F} : EpilogueScales{a, b};
}

/// fl(sum * alpha), with NaN as 0x7FC00000. Every engine ends with this.
float epilogue(float sum, float alpha);
/// The epilogue with two factors, multiplied one after the other.
float epilogue(float sum, const EpilogueScales& scales);

/// Throws Error if k exceeds nvfp4_max_k in that scheme.
void check_contraction(Scheme scheme, std::size_t k);

/// What every engine asks of its operands. Throws Error if schemes differ (but for int4 on the left of luq) or lengths,
/// operands are malformed, or k exceeds nvfp4_max_k.
void check_product(const QuantizedMatrix& a, const QuantizedMatrix& b);

/// sums[i * N + j] = sum over k of a(i, k) * b(j, k) without the FP32 scales, M x N, as the array of MACs returns
/// them:
///   nvfp4, fp8, luq (a is int4): the exact sum, rounded once to FP32 (nearest even); a zero sum is +0.
///   mxfp4, mxfp8: per block of 32 the exact product sum times both scales, rounded to FP32, added in FP32 to the sum
///   of
///     the blocks before it, from +0, in increasing order of k; every rounding to nearest even, with subnormals and
///     overflow to infinity.
///   fp8 with has_blocked_scales(): per 128 along the contraction the exact sum, rounded once to FP32, times
///     epilogue_scales(fp32_scale of a, that of b), rounded to FP32, added as for mxfp4: these sums have their FP32
///     scales.
/// NaN (0x7FC00000) if any product is NaN (a NaN operand or block scale, or infinity * 0) or if products of both
/// infinities occur; otherwise an infinity if one occurs. `threads` 0: one per core. Throws Error as check_product
/// does.
std::vector<float> gemm_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads = 0,
                             const Progress& progress = {});

/// C = A x B, M x N: epilogue(gemm_sums(a, b), epilogue_scales(fp32_scale of a, that of b)); the sums themselves with
/// has_blocked_scales().
std::vector<float> gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, unsigned threads = 0,
                        const Progress& progress = {});

}  // namespace narrowgauge
