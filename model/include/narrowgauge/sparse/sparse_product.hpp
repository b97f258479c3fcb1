// SPDX-License-Identifier: Apache-2.0
// The product whose left operand is sparse, of NVFP4, FP8 and LUQ. Its operands are QuantizedMatrix as ever, the zeros
// of A in their places. What is more is asked of them: A has the pattern, and with NVFP4 two neighbouring blocks of 16,
// 0 and 1, 2 and 3, have one scale on either side, that of 32 elements (QuantizeOptions::wide_blocks).
// docs/sparsity.md.
#pragma once

#include <cstdint>
#include <vector>

#include "narrowgauge/progress.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"
#include "narrowgauge/sparse/prune.hpp"

namespace narrowgauge {

/// An operand of it as a tile takes it: blocks of 32 elements along k, which A stores 16 of.
struct SparseOperand {
  Scheme scheme = Scheme::nvfp4;
  Format element = Format::e2m1;
  NmPattern pattern;  ///< of A, 2:4 or 4:8pair
  std::size_t rows = 0;
  std::size_t k = 0;
  std::size_t k_padded = 0;            ///< k rounded up to a whole number of blocks of 32
  std::vector<std::uint8_t> codes;     ///< rows x k_padded, of A half of that, one code a byte
  std::vector<std::uint8_t> scales;    ///< of NVFP4: rows x k_padded / 32
  std::vector<std::uint8_t> metadata;  ///< of A: a nibble a group of `pattern.m`, the first in the low half of a byte
};

/// The pattern as tiles have it: 2:4, and 1:2, which is 2:4, too; 4:8pair. Throws Error for any other.
NmPattern product_pattern(const NmPattern& pattern);

/// A, compressed. Throws Error, naming vector and element, where `q` is of an MX scheme, a group has more codes, or
/// pairs, that are not zero than the pattern allows, or two blocks of one scale have two; and as check(q, name) and
/// product_pattern() do.
SparseOperand compress_operand(const QuantizedMatrix& q, const NmPattern& pattern);

/// B. Throws Error as compress_operand() does, but for the groups.
SparseOperand widen_operand(const QuantizedMatrix& q, const NmPattern& pattern);

/// What every engine asks of the operands: as check_product(), and what is said above. Throws Error.
void check_sparse_product(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern);

/// gemm(a, b), but for numbers of B that meet no stored one of A: infinities and NaN of FP8 count where A
/// stores an element, as compress_operand() does, and nowhere else. Throws Error as check_sparse_product() does.
std::vector<float> gemm_sparse(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern,
                               unsigned threads, const Progress& progress = {});

}  // namespace narrowgauge
