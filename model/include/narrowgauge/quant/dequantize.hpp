// SPDX-License-Identifier: Apache-2.0
// The values of a quantized matrix, into memory of the caller's. quantize.hpp has the function that returns them.
#pragma once

#include <span>

#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// Writes the exact values, rows x k, as dequantize(q) returns them. `threads` 0: one per core. Throws Error as check()
/// does, and if `out` does not have rows * k elements.
void dequantize(const QuantizedMatrix& q, std::span<double> out, unsigned threads = 0);

/// The same, each rounded once to nearest even.
void dequantize(const QuantizedMatrix& q, std::span<float> out, unsigned threads = 0);

}  // namespace narrowgauge
