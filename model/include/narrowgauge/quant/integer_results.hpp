// SPDX-License-Identifier: Apache-2.0
// Results of a product in INT8, as a tile sends them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "narrowgauge/progress.hpp"
#include "narrowgauge/quant/quantize_affine.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// A result over its scale plus the zero point, -256 to 255, rounded once to nearest even and limited to -128 to 127;
/// NaN gives 127. The code of ng_quantize_affine under a scale of 1.
inline std::int8_t int8_result(float number, int zero_point) {
  constexpr AffineUnit unit{.input = AffineInput::fp32, .power_of_two = true};
  return static_cast<std::int8_t>(
      quantize_affine(unit, std::bit_cast<std::uint32_t>(number), {.shift = unit.point()}, zero_point));
}

/// What integers mean: (code - zero_point) * scale.
struct AffineRange {
  float scale = 1;     ///< above 0
  int zero_point = 0;  ///< -256 to 255
};

/// What sums of A x B are multiplied by to be codes but for the zero point: fl(fl(tensor scale of a * that of b) /
/// scale). Throws Error unless that is a normal number, both have one FP32 scale, and the range is as AffineRange says.
float integer_factor(const QuantizedMatrix& a, const QuantizedMatrix& b, const AffineRange& c);

/// C = A x B in INT8, M x N: int8_result(epilogue(gemm_sums(a, b), integer_factor(a, b, c)), c.zero_point). Throws
/// Error as those do.
std::vector<std::int8_t> gemm_integers(const QuantizedMatrix& a, const QuantizedMatrix& b, const AffineRange& c,
                                       unsigned threads = 0, const Progress& progress = {});

}  // namespace narrowgauge
