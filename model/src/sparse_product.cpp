// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/sparse_product.hpp"

#include <algorithm>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/sparse/metadata.hpp"

namespace narrowgauge {
namespace {

constexpr std::size_t wide = 32, group = 4;

bool is_zero(std::uint8_t code) { return (code & 7) == 0; }

/// Everything but codes and metadata.
SparseOperandNvfp4 with_scales(const QuantizedMatrix& q, const std::string& whose) {
  check(q, whose);
  if (q.scheme != Scheme::nvfp4) {
    throw Error(whose +
                " is not nvfp4, of which alone there are products with a 2:4 sparse operand: quantize to nvfp4");
  }
  SparseOperandNvfp4 out;
  out.rows = q.rows;
  out.k = q.k;
  out.k_padded = (q.k + wide - 1) / wide * wide;
  for (std::size_t row = 0; row < q.rows; ++row) {
    const std::uint8_t* scales = q.scales.data() + row * q.blocks();
    for (std::size_t block = 0; block < q.blocks(); block += 2) {
      if (block + 1 < q.blocks() && scales[block] != scales[block + 1]) {
        throw Error(whose + " has two scales for elements " + std::to_string(block * 16) + " to " +
                    std::to_string(block * 16 + wide - 1) + " of vector " + std::to_string(row) +
                    " (from 0): beside a 2:4 sparse operand 32 elements have one; quantize with wide blocks");
      }
      out.scales.push_back(scales[block]);
    }
  }
  return out;
}

}  // namespace

SparseOperandNvfp4 compress_nvfp4(const QuantizedMatrix& q) {
  SparseOperandNvfp4 out = with_scales(q, "the sparse operand");
  out.codes.reserve(q.rows * out.k_padded / 2);
  out.metadata.resize(q.rows * out.k_padded / 8);
  for (std::size_t row = 0; row < q.rows; ++row) {
    for (std::size_t at = 0; at < out.k_padded; at += group) {
      const auto code = [&](std::size_t i) {
        return at + i < q.k_padded ? q.codes[row * q.k_padded + at + i] : std::uint8_t{0};
      };
      unsigned mask = 0;
      for (unsigned i = 0; i < group; ++i) mask |= unsigned{!is_zero(code(i))} << i;
      if (std::popcount(mask) > 2) {
        throw Error("the sparse operand has " + std::to_string(std::popcount(mask)) +
                    " elements that are not zero among " + std::to_string(at) + " to " +
                    std::to_string(at + group - 1) + " of vector " + std::to_string(row) +
                    " (from 0): 2:4 sparsity has two at most; prune it first");
      }
      const std::uint8_t nibble = metadata_of(mask);
      for (const unsigned i : selected_positions(nibble)) out.codes.push_back(code(i));
      out.metadata[(row * out.k_padded + at) / 8] |= static_cast<std::uint8_t>(nibble << (at / group % 2 * 4));
    }
  }
  return out;
}

SparseOperandNvfp4 widen_nvfp4(const QuantizedMatrix& q) {
  SparseOperandNvfp4 out = with_scales(q, "the operand beside the sparse one");
  out.codes.resize(q.rows * out.k_padded);
  for (std::size_t row = 0; row < q.rows; ++row)
    std::copy_n(q.codes.data() + row * q.k_padded, q.k_padded, out.codes.data() + row * out.k_padded);
  return out;
}

void check_sparse_product(const QuantizedMatrix& a, const QuantizedMatrix& b) {
  check_product(a, b);
  static_cast<void>(compress_nvfp4(a));
  static_cast<void>(widen_nvfp4(b));
}

}  // namespace narrowgauge
