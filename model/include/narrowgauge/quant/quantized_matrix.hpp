// SPDX-License-Identifier: Apache-2.0
// A matrix in a narrow format, laid out as the operand of a matrix product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "narrowgauge/format/format.hpp"

namespace narrowgauge {

/// How elements and scales go together.
enum class Scheme : std::uint8_t {
  nvfp4,  ///< E2M1, a UE4M3 scale per 16 elements along the contraction, an FP32 scale per tensor
  mxfp4,  ///< E2M1, an E8M0 scale per 32 elements along the contraction
  fp8,    ///< E4M3 or E5M2, FP32 scales: one per tensor, or as `Scaling` says
  mxfp8,  ///< E4M3 or E5M2, an E8M0 scale per 32 elements along the contraction
  luq,    ///< E3M0, FP4 [1,3,0], an FP32 scale per tensor (alpha, a power of two): B of LUQ's product
  int4,   ///< its A: two's complement, -8 to 7, an FP32 scale per tensor; `element` is E3M0, its partner's
};

/// Of the two schemes of LUQ's product the one that names it, luq; else the scheme itself.
constexpr Scheme product_scheme(Scheme scheme) { return scheme == Scheme::int4 ? Scheme::luq : scheme; }

/// Whether block scales are powers of two in E8M0, and there is no FP32 scale.
constexpr bool is_mx(Scheme scheme) { return scheme == Scheme::mxfp4 || scheme == Scheme::mxfp8; }

/// Whether there are block scales.
constexpr bool has_block_scales(Scheme scheme) { return scheme == Scheme::nvfp4 || is_mx(scheme); }

/// Elements that share one block scale of a byte; 1 where there is none.
constexpr std::size_t block_size(Scheme scheme) { return scheme == Scheme::nvfp4 ? 16 : is_mx(scheme) ? 32 : 1; }

/// The format of block scales, of schemes that have them.
constexpr Format scale_format(Scheme scheme) { return scheme == Scheme::nvfp4 ? Format::ue4m3 : Format::e8m0; }

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
  float tensor_scale = 1.0F;         ///< 1 for mxfp4 and mxfp8, and where fp32_scales are
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
