// SPDX-License-Identifier: Apache-2.0
// From two matrices to what a unit meets: the codes of an output-stationary product A x B, cycle by cycle. For rung L1
// on one's own data, and for histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/power/features.hpp"
#include "narrowgauge/power/mac_spec.hpp"

namespace narrowgauge::power {

struct ProductOperands {
  OperandStream stream;     ///< of the vectors below; first_every = cycles of one output
  std::size_t outputs = 0;  ///< of A x B that the cycles hold,
  std::size_t of = 0;       ///< of so many: evenly spaced rows and columns if not all fit
  std::vector<std::uint32_t> a, b;
  std::vector<std::uint8_t> a_scale, b_scale;

  ProductOperands() = default;
  ProductOperands(ProductOperands&&) = default;  ///< the stream's spans stay with the vectors
  ProductOperands& operator=(ProductOperands&&) = default;
};

/// A is rows x k, B is k x columns, both row-major. FP8, NVFP4 and MXFP4 go through the quantizers (narrowgauge/quant).
/// Integers: scaled so that the largest magnitude is the largest code (symmetric: -(2^(w-1)-1) to 2^(w-1)-1), rounded
/// to nearest even; `integers_as_they_are` takes the values for codes. The last cycle of an output is filled up with
/// zeros. At most `max_products` products are laid out. Throws Error naming operand, row, column and value on NaN,
/// infinities, negative values of an unsigned operand and codes out of range; on zero sizes and other formats.
ProductOperands product_operands(const MacSpec& mac, std::span<const float> a, std::size_t rows, std::size_t k,
                                 std::span<const float> b, std::size_t columns, bool integers_as_they_are = false,
                                 std::size_t max_products = std::size_t{1} << 22);

}  // namespace narrowgauge::power
