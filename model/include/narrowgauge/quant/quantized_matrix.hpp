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
  fp8,    ///< E4M3 or E5M2, an FP32 scale per tensor
};

/// Elements that share one block scale; 1 where there is none.
constexpr std::size_t block_size(Scheme scheme) {
  return scheme == Scheme::nvfp4 ? 16 : scheme == Scheme::mxfp4 ? 32 : 1;
}

/// `rows` vectors of `k` elements along the contraction: the rows of A (M x K), or the columns of B (K x N).
/// value(r, i) = decode(element, codes[r * k_padded + i]) * decode(scale format, scales[r * blocks() + i / block]) *
/// tensor_scale.
struct QuantizedMatrix {
  Scheme scheme = Scheme::nvfp4;
  Format element = Format::e2m1;
  std::size_t rows = 0;
  std::size_t k = 0;                 ///< logical length of a vector
  std::size_t k_padded = 0;          ///< k rounded up to a whole number of blocks; the padding's codes are 0
  std::vector<std::uint8_t> codes;   ///< rows x k_padded, one code a byte
  std::vector<std::uint8_t> scales;  ///< rows x blocks(), one code a byte; empty for fp8
  float tensor_scale = 1.0F;         ///< 1 for mxfp4

  std::size_t blocks() const { return k_padded / block_size(scheme); }
};

}  // namespace narrowgauge
