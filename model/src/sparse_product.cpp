// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/sparse_product.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/format_set.hpp"
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
  if (is_mx(q.scheme) || find_operand_format(q.scheme, q.element) == nullptr) {
    throw Error(whose + " is of " + (is_mx(q.scheme) ? "an MX scheme" : std::string(desc(q.element).name)) +
                ", of which there are no products with a sparse operand: quantize to nvfp4, fp8_e4m3, fp8_e5m2 or luq");
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

/// Whether a group of `q` has more numbers, or pairs, that are not zero than the pattern allows.
bool breaks_pattern(const QuantizedMatrix& q, const NmPattern& pattern) {
  constexpr std::uint64_t bytes = 0x0101010101010101, low = 0x7F * bytes, tops = 0x80 * bytes;
  const std::uint64_t magnitude = magnitude_bits(q.scheme) * bytes;
  const bool pairs = pattern.m == 8;
  bool broken = false;
  for (std::size_t row = 0; row < q.rows; ++row) {
    const std::uint8_t* const codes = q.codes.data() + row * q.k_padded;
    for (std::size_t i = 0; i < q.k_padded; i += 8) {  // eight codes at once: two groups, or one of pairs
      std::uint64_t eight = 0;
      std::memcpy(&eight, codes + i, std::min<std::size_t>(8, q.k_padded - i));
      const std::uint64_t set = ((eight & magnitude) + low) & tops;  // the tops of bytes that are not zero
      if (pairs) {
        broken |= std::popcount((set | set >> 8) & 0x0080008000800080) > 2;
      } else {
        broken |= std::popcount(set & 0xFFFFFFFF) > 2 || std::popcount(set >> 32) > 2;
      }
    }
  }
  return broken;
}

/// A code that times zero is no number.
bool is_special(const QuantizedMatrix& q, std::uint8_t code) {
  return q.scheme == Scheme::fp8 && (code & 0x7FU) > desc(q.element).max_code();
}

/// Some vectors of an FP8 matrix, each with the scales that it has there.
QuantizedMatrix some_vectors(const QuantizedMatrix& q, const std::vector<std::size_t>& vectors) {
  QuantizedMatrix out;
  out.scheme = q.scheme;
  out.element = q.element;
  out.rows = vectors.size();
  out.k = q.k;
  out.k_padded = q.k_padded;
  out.tensor_scale = q.tensor_scale;
  out.scaling = q.scaling == Scaling::block_128x128 ? Scaling::block_1x128 : q.scaling;
  for (const std::size_t v : vectors) {
    const auto codes = q.codes.begin() + static_cast<std::ptrdiff_t>(v * q.k_padded);
    out.codes.insert(out.codes.end(), codes, codes + static_cast<std::ptrdiff_t>(q.k_padded));
    for (std::size_t i = 0; q.scaling != Scaling::tensor && i < q.scale_columns(); ++i) {
      out.fp32_scales.push_back(q.fp32_scale(v, i * fp32_block));
    }
  }
  return out;
}

/// Column `column` of the product, where B has NaN or infinities at `specials`: rows that meet the same ones together.
void special_column(const QuantizedMatrix& a, const SparseOperand& stored, const QuantizedMatrix& b, std::size_t column,
                    const std::vector<std::size_t>& specials, unsigned threads, std::vector<float>& c) {
  const std::size_t group = static_cast<std::size_t>(stored.pattern.m), unit = group / 4;
  const auto meets = [&](std::size_t row, std::size_t i) {
    const std::size_t at = (row * stored.k_padded + i) / group;
    const unsigned nibble = stored.metadata[at / 2] >> at % 2 * 4 & 15U;
    return (mask_of_metadata(nibble) >> i % group / unit & 1) != 0;
  };
  std::map<std::vector<bool>, std::vector<std::size_t>> rows_by_met;
  for (std::size_t row = 0; row < a.rows; ++row) {
    std::vector<bool> met(specials.size());
    for (std::size_t s = 0; s < specials.size(); ++s) met[s] = meets(row, specials[s]);
    rows_by_met[met].push_back(row);
  }
  QuantizedMatrix right = some_vectors(b, {column});
  for (const auto& [met, rows] : rows_by_met) {
    for (std::size_t s = 0; s < specials.size(); ++s) {
      right.codes[specials[s]] = met[s] ? b.codes[column * b.k_padded + specials[s]] : std::uint8_t{0};
    }
    const std::vector<float> sums = gemm(some_vectors(a, rows), right, threads);
    for (std::size_t i = 0; i < rows.size(); ++i) c[rows[i] * b.rows + column] = sums[i];
  }
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
  static_cast<void>(with_scales(a, pattern, "the sparse operand"));
  if (breaks_pattern(a, product_pattern(pattern))) static_cast<void>(compress_operand(a, pattern));  // throws
  static_cast<void>(with_scales(b, pattern, "the operand beside the sparse one"));
}

std::vector<float> gemm_sparse(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern,
                               unsigned threads, const Progress& progress) {
  check_sparse_product(a, b, pattern);
  std::vector<std::vector<std::size_t>> specials(b.rows);
  bool any = false;
  for (std::size_t column = 0; b.scheme == Scheme::fp8 && column < b.rows; ++column) {
    const std::uint8_t* const codes = b.codes.data() + column * b.k_padded;
    std::uint8_t largest = 0;
    for (std::size_t i = 0; i < b.k; ++i) largest = std::max<std::uint8_t>(largest, codes[i] & 0x7F);
    for (std::size_t i = 0; is_special(b, largest) && i < b.k; ++i) {
      if (is_special(b, codes[i])) specials[column].push_back(i);
    }
    any |= !specials[column].empty();
  }
  std::vector<float> c = gemm(a, b, threads, progress);
  if (!any) return c;
  const SparseOperand stored = compress_operand(a, pattern);
  for (std::size_t column = 0; column < b.rows; ++column) {
    if (!specials[column].empty()) special_column(a, stored, b, column, specials[column], threads, c);
  }
  return c;
}

}  // namespace narrowgauge
