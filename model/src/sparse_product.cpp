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

constexpr std::size_t wide = 32;

/// Bits of a code that are zero in +0 and -0; INT4 has one zero.
unsigned magnitude_bits(Scheme scheme) { return scheme == Scheme::fp8 ? 0x7F : scheme == Scheme::int4 ? 0xF : 0x7; }

/// Everything but codes and metadata.
SparseOperand with_scales(const QuantizedMatrix& q, const NmPattern& pattern, const std::string& whose) {
  check(q, whose);
  if (is_mx(q.scheme)) {
    throw Error(whose +
                " is of an MX scheme, of which there are no products with a sparse operand: quantize to nvfp4, " +
                "fp8 or luq");
  }
  SparseOperand out;
  out.scheme = q.scheme;
  out.element = q.element;
  out.pattern = product_pattern(pattern);
  out.rows = q.rows;
  out.k = q.k;
  out.k_padded = (q.k + wide - 1) / wide * wide;
  if (q.scheme != Scheme::nvfp4) return out;
  for (std::size_t row = 0; row < q.rows; ++row) {
    const std::uint8_t* scales = q.scales.data() + row * q.blocks();
    for (std::size_t block = 0; block < q.blocks(); block += 2) {
      if (block + 1 < q.blocks() && scales[block] != scales[block + 1]) {
        throw Error(whose + " has two scales for elements " + std::to_string(block * 16) + " to " +
                    std::to_string(block * 16 + wide - 1) + " of vector " + std::to_string(row) +
                    " (from 0): beside a sparse operand 32 elements have one; quantize with wide blocks");
      }
      out.scales.push_back(scales[block]);
    }
  }
  return out;
}

/// The codes of `q`, vectors of k_padded.
std::vector<std::uint8_t> padded_codes(const QuantizedMatrix& q, std::size_t k_padded) {
  std::vector<std::uint8_t> codes(q.rows * k_padded);
  for (std::size_t row = 0; row < q.rows; ++row)
    std::copy_n(q.codes.data() + row * q.k_padded, q.k_padded, codes.data() + row * k_padded);
  return codes;
}

/// A code that times zero is no number.
bool is_special(const QuantizedMatrix& q, std::uint8_t code) {
  return q.scheme == Scheme::fp8 && (desc(q.element).is_nan(code) || desc(q.element).is_inf(code));
}

}  // namespace

NmPattern product_pattern(const NmPattern& pattern) {
  const std::string name = pattern.name();
  if (name == "4:8pair") return pattern;
  if (name == "2:4" || name == "1:2") return {};
  throw Error("\"" + name + "\" is no pattern of a product with a sparse operand; expected 2:4, 1:2 or 4:8pair");
}

SparseOperand compress_operand(const QuantizedMatrix& q, const NmPattern& pattern) {
  SparseOperand out = with_scales(q, pattern, "the sparse operand");
  const std::vector<std::uint8_t> codes = padded_codes(q, out.k_padded);
  // In 2:4 a group has four units of an element, by pairs four of two.
  const std::size_t group = static_cast<std::size_t>(out.pattern.m), unit = group / 4;
  std::vector<std::uint8_t> mask(codes.size());
  for (std::size_t at = 0; at < codes.size(); at += group) {
    std::size_t kept = 0;
    for (std::size_t i = at; i < at + group; i += unit) {
      const bool zero = std::all_of(codes.begin() + i, codes.begin() + i + unit,
                                    [&](std::uint8_t code) { return (code & magnitude_bits(q.scheme)) == 0; });
      std::fill_n(mask.begin() + i, unit, zero ? 0 : 1);
      kept += !zero;
    }
    if (kept > 2) {
      const std::size_t first = at % out.k_padded;
      throw Error("the sparse operand has " + std::to_string(kept) + (unit == 1 ? " elements" : " pairs") +
                  " that are not zero among " + std::to_string(first) + " to " + std::to_string(first + group - 1) +
                  " of vector " + std::to_string(at / out.k_padded) + " (from 0): " + out.pattern.name() +
                  " sparsity has two at most; prune it first");
    }
  }
  CompressedMatrix<std::uint8_t> stored = compress(
      std::span<const std::uint8_t>(codes), std::span<const std::uint8_t>(mask), q.rows, out.k_padded, out.pattern);
  out.codes = std::move(stored.values);
  out.metadata = std::move(stored.metadata);
  return out;
}

SparseOperand widen_operand(const QuantizedMatrix& q, const NmPattern& pattern) {
  SparseOperand out = with_scales(q, pattern, "the operand beside the sparse one");
  out.codes = padded_codes(q, out.k_padded);
  return out;
}

void check_sparse_product(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern) {
  check_product(a, b);
  static_cast<void>(compress_operand(a, pattern));
  static_cast<void>(with_scales(b, pattern, "the operand beside the sparse one"));
}

std::vector<float> gemm_sparse(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern,
                               unsigned threads, const Progress& progress) {
  check_sparse_product(a, b, pattern);
  if (std::ranges::none_of(b.codes, [&](std::uint8_t code) { return is_special(b, code); }))
    return gemm(a, b, threads, progress);
  // Row by row, B without what the row does not meet.
  const SparseOperand stored = compress_operand(a, pattern);
  const std::size_t group = static_cast<std::size_t>(stored.pattern.m), unit = group / 4;
  std::vector<float> c;
  for (std::size_t row = 0; row < a.rows; ++row) {
    QuantizedMatrix one = a, met = b;
    one.rows = 1;
    one.codes.assign(a.codes.begin() + row * a.k_padded, a.codes.begin() + (row + 1) * a.k_padded);
    if (a.scaling == Scaling::vector || a.scaling == Scaling::block_1x128) {
      one.fp32_scales.assign(a.fp32_scales.begin() + row * a.scale_columns(),
                             a.fp32_scales.begin() + (row + 1) * a.scale_columns());
    } else if (a.scaling == Scaling::block_128x128) {
      one.fp32_scales.assign(a.fp32_scales.begin() + row / fp32_block * a.scale_columns(),
                             a.fp32_scales.begin() + (row / fp32_block + 1) * a.scale_columns());
    }
    for (std::size_t i = 0; i < b.k_padded; ++i) {
      const std::size_t at = (row * stored.k_padded + i) / group;
      const unsigned nibble = stored.metadata[at / 2] >> at % 2 * 4 & 15U;
      if ((mask_of_metadata(nibble) >> i % group / unit & 1) != 0) continue;
      for (std::size_t column = 0; column < b.rows; ++column) met.codes[column * b.k_padded + i] = 0;
    }
    const std::vector<float> sums = gemm(one, met, threads);
    c.insert(c.end(), sums.begin(), sums.end());
    if (progress) progress(row + 1, a.rows);
  }
  return c;
}

}  // namespace narrowgauge
