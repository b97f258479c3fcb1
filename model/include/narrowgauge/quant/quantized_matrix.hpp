// SPDX-License-Identifier: Apache-2.0
// A matrix in a narrow format, laid out as the operand of a matrix product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "narrowgauge/format/format.hpp"
#include "narrowgauge/quant/scheme.hpp"

namespace narrowgauge {

/// The elements that share an FP32 scale. All but `tensor` are for fp8.
enum class Scaling : std::uint8_t {
  tensor,         ///< all
  vector,         ///< those of one vector: per token (rows of A), per channel (columns of B)
  block_1x128,    ///< 128 of one vector, along the contraction
  block_128x128,  ///< 128 along the contraction, of 128 vectors
};

/// Elements along the contraction that share an FP32 scale of a blocked `Scaling`.
inline constexpr std::size_t fp32_block = 128;
constexpr bool is_blocked(Scaling scaling) {
  return scaling == Scaling::block_1x128 || scaling == Scaling::block_128x128;
}

/// `rows` vectors of `k` elements along the contraction: the rows of A (M x K), or the columns of B (K x N).
/// value(r, i) = value of codes[r * k_padded + i] (decode of the element, int4_value) * decode(scale format, scales[r *
/// blocks() + i / block]) * fp32_scale(r, i).
struct QuantizedMatrix {
  Scheme scheme = Scheme::nvfp4;
  Format element = Format::e2m1;
  std::size_t rows = 0;
  std::size_t k = 0;                 ///< logical length of a vector
  std::size_t k_padded = 0;          ///< k rounded up to a whole number of blocks; the padding's codes are 0
  std::vector<std::uint8_t> codes;   ///< rows x k_padded, one code a byte
  std::vector<std::uint8_t> scales;  ///< rows x blocks(), one code a byte; empty without block scales
  float tensor_scale = 1.0F;         ///< 1 for the MX schemes, and where fp32_scales are
  Scaling scaling = Scaling::tensor;
  std::vector<float> fp32_scales = {};  ///< scale_rows() x scale_columns(); empty for Scaling::tensor

  std::size_t blocks() const { return k_padded / block_size(scheme); }
  std::size_t scale_rows() const {
    return scaling == Scaling::tensor          ? 0
           : scaling == Scaling::block_128x128 ? (rows + fp32_block - 1) / fp32_block
                                               : rows;
  }
  std::size_t scale_columns() const { return is_blocked(scaling) ? (k + fp32_block - 1) / fp32_block : 1; }
  /// The FP32 scale of element `i` of a vector.
  float fp32_scale(std::size_t row, std::size_t i) const {
    switch (scaling) {
      case Scaling::vector:
        return fp32_scales[row];
      case Scaling::block_1x128:
        return fp32_scales[row * scale_columns() + i / fp32_block];
      case Scaling::block_128x128:
        return fp32_scales[row / fp32_block * scale_columns() + i / fp32_block];
      case Scaling::tensor:
        break;
    }
    return tensor_scale;
  }
};

}  // namespace narrowgauge
