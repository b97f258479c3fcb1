// SPDX-License-Identifier: Apache-2.0
// A matrix times a vector in integers, rounded, shifted and clipped: what ng_transform does, and with it both
// directions of the codec's transform, quantizer, dequantizer and ReLU (docs/codec.md, The transform).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

/// y_r = clip(floor((sum over c of matrix[r][c] x_c + bias_r) / 2^shift), low, high). The bias holds the half that
/// rounds to nearest, ties up. A low of 0 is ReLU.
struct IntegerTransform {
  std::size_t size = 0;              ///< values of a vector, at least 1
  std::vector<std::int16_t> matrix;  ///< row-major, size x size
  std::vector<std::int64_t> bias;    ///< of every row, with 2^(shift - 1) in it
  unsigned shift = 0;                ///< 0 to 40
  std::int32_t low = -32768, high = 32767;
  bool operator==(const IntegerTransform&) const = default;
};

/// Exact for matrices and vectors of 16 bits, sizes up to 2^20 and biases below 2^62. `x` and `y` have `size` values
/// and may not overlap.
inline void apply(const IntegerTransform& t, std::span<const std::int32_t> x, std::span<std::int32_t> y) {
  for (std::size_t r = 0; r < t.size; ++r) {
    std::int64_t sum = t.bias[r];
    for (std::size_t c = 0; c < t.size; ++c) sum += std::int64_t{t.matrix[r * t.size + c]} * x[c];
    sum >>= t.shift;
    y[r] = static_cast<std::int32_t>(sum < t.low ? t.low : sum > t.high ? t.high : sum);
  }
}

}  // namespace narrowgauge
