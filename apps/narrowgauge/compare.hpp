// SPDX-License-Identifier: Apache-2.0
// What an engine's result is held against: the golden model's bits, and the product in float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/progress.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge::cli {

/// How many results differ in their bits, and the first that does.
struct Difference {
  std::size_t count = 0;
  std::size_t index = 0;
  std::uint32_t got = 0;
  std::uint32_t expected = 0;
};

/// Bit for bit: +0 and -0 differ, equal NaNs do not. Throws Error on results of different size.
Difference compare(std::span<const float> got, std::span<const float> expected);
/// Codes, and block scales of NVFP4, vectors of k; the bits of an element are its block's scale above its code.
Difference compare(const QuantizedMatrix& got, const QuantizedMatrix& expected);

/// C = A x B in float64: A is m x k, B is k x n, all row-major; each sum in the order of k, every product and sum
/// rounded, so that no processor gives another result. `threads` 0 is one per core.
std::vector<double> product_float64(std::span<const double> a, std::span<const double> b, std::size_t m, std::size_t k,
                                    std::size_t n, unsigned threads, const Progress& progress = {});

}  // namespace narrowgauge::cli
