// SPDX-License-Identifier: Apache-2.0
// 8-bit products whose scales change along the contraction.
#pragma once

#include "narrowgauge/progress.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"
#include "windows.hpp"

namespace narrowgauge::detail {

/// The windows that blocked_sums() takes.
WindowSizes blocked_windows(Scheme scheme);

/// Elements along the contraction that are summed exactly.
std::size_t blocked_length(Scheme scheme);

/// gemm_sums() of mxfp8, and of fp8 where an operand has FP32 scales of blocks; `unpacked` is b in blocked_windows()
/// and blocks of blocked_length(), `out` is M x N.
void blocked_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, const RightWindows& unpacked, unsigned threads,
                  const Progress& progress, float* out);

}  // namespace narrowgauge::detail
