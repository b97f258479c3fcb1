// SPDX-License-Identifier: Apache-2.0
// The product of NVFP4 whose left operand is 2:4 sparse. Its operands are QuantizedMatrix as ever, the zeros of A in
// their places, so that its golden value is gemm()'s. What is more is asked of them: of four neighbours of A at most
// two are not zero, and of either operand two neighbouring blocks of 16, 0 and 1, 2 and 3, have one scale, that of 32
// elements (QuantizeOptions::wide_blocks). docs/sparsity.md.
#pragma once

#include <cstdint>
#include <vector>

#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// An operand of it as a tile takes it: blocks of 32 elements along k, which A stores 16 of.
struct SparseOperandNvfp4 {
  std::size_t rows = 0;
  std::size_t k = 0;
  std::size_t k_padded = 0;            ///< k rounded up to a whole number of blocks of 32
  std::vector<std::uint8_t> codes;     ///< rows x k_padded, of A half of that, one code a byte
  std::vector<std::uint8_t> scales;    ///< rows x k_padded / 32
  std::vector<std::uint8_t> metadata;  ///< of A: rows x k_padded / 8, a nibble a group, the first in the low half
};

/// A, compressed. Throws Error, naming vector and element, where `q` is not nvfp4, a group of four has more than two
/// codes that are not zero, or two blocks of one scale have two; and as check(q, name) does.
SparseOperandNvfp4 compress_nvfp4(const QuantizedMatrix& q);

/// B. Throws Error as compress_nvfp4() does, but for the groups.
SparseOperandNvfp4 widen_nvfp4(const QuantizedMatrix& q);

/// What every engine asks of the operands: as check_product(), and what is said above. Throws Error.
void check_sparse_product(const QuantizedMatrix& a, const QuantizedMatrix& b);

}  // namespace narrowgauge
