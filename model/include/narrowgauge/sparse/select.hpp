// SPDX-License-Identifier: Apache-2.0
// What a sparse dot product multiplies: the elements of the dense operand at the positions that the metadata of the
// sparse one name. Golden model of ng_dot_fp8_sparse and ng_dot_luq_sparse, which are the dense products of that.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/luq/mul_luq.hpp"
#include "narrowgauge/mac/dot_fp8.hpp"
#include "narrowgauge/sparse/metadata.hpp"

namespace narrowgauge {

struct SelectedElements {
  std::vector<std::uint8_t> elements;  ///< two of each group
  bool error = false;                  ///< some metadata are illegal; elements of the same group stand there then
};

/// Two elements of each group of four, as selected_positions() names them; one nibble of metadata a group. Throws Error
/// if dense has not four elements a nibble.
inline SelectedElements select_2_4(std::span<const std::uint8_t> dense, std::span<const std::uint8_t> nibbles) {
  if (dense.size() != 4 * nibbles.size())
    throw Error("select_2_4: " + std::to_string(dense.size()) + " elements and " + std::to_string(nibbles.size()) +
                " nibbles of metadata; expected four elements a nibble");
  SelectedElements result;
  for (std::size_t group = 0; group < nibbles.size(); ++group) {
    result.error = result.error || !is_metadata(nibbles[group]);
    for (const unsigned position : selected_positions(nibbles[group]))
      result.elements.push_back(dense[4 * group + position]);
  }
  return result;
}

struct SparseFp8Sum {
  Fp8Sum sum;
  bool error = false;  ///< illegal metadata; the sum has no meaning then
};

/// dot_fp8() of a 2:4 sparse vector, of which `stored` has the elements that are stored, and a dense one of twice the
/// length.
inline SparseFp8Sum dot_fp8_sparse(std::span<const std::uint8_t> stored, std::span<const std::uint8_t> nibbles,
                                   std::span<const std::uint8_t> dense, Format stored_format, Format dense_format,
                                   int lsb_exp = fp8_lsb_exp) {
  const SelectedElements selected = select_2_4(dense, nibbles);
  return {.sum = dot_fp8(stored, selected.elements, stored_format, dense_format, lsb_exp), .error = selected.error};
}

struct SparseLuqDot {
  int dot = 0;
  bool error = false;  ///< illegal metadata; the dot product has no meaning then
};

/// luq_dot() of a 2:4 sparse vector and a dense one of twice the length: INT4 is sparse, or, with sparse_fp4, FP4
/// [1,3,0].
inline SparseLuqDot luq_dot_sparse(std::span<const std::uint8_t> stored, std::span<const std::uint8_t> nibbles,
                                   std::span<const std::uint8_t> dense, bool sparse_fp4) {
  const SelectedElements selected = select_2_4(dense, nibbles);
  return {.dot = sparse_fp4 ? luq_dot(selected.elements, stored) : luq_dot(stored, selected.elements),
          .error = selected.error};
}

}  // namespace narrowgauge
