// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_dot_nvfp4_sparse.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "narrowgauge/sparse/metadata.hpp"

namespace narrowgauge {

struct SparseNvfp4Term {
  Nvfp4Term term;
  bool error = false;  ///< illegal metadata; the term has no meaning then
};

/// The product of a 2:4 sparse block of 32 elements, of which a has the 16 that are stored, and a dense one, b, with
/// one scale each: nvfp4_term() of a and of the elements of b at the positions that the metadata name
/// (selected_positions). Metadata are nibbles, the first group's in the low bits: 8 for groups of four elements, or 4
/// for groups of four pairs of neighbours.
constexpr SparseNvfp4Term nvfp4_sparse_term(std::span<const std::uint8_t, 16> a, std::uint32_t metadata,
                                            std::span<const std::uint8_t, 32> b, std::uint8_t a_scale,
                                            std::uint8_t b_scale, bool pairs) {
  SparseNvfp4Term result;
  std::array<std::uint8_t, 16> selected{};
  const unsigned unit = pairs ? 2 : 1;
  for (unsigned group = 0; group < 8 / unit; ++group) {
    const unsigned nibble = metadata >> (4 * group) & 15;
    result.error = result.error || !is_metadata(nibble);
    const std::array<unsigned, 2> positions = selected_positions(nibble);
    for (unsigned i = 0; i < 2 * unit; ++i)
      selected[2 * unit * group + i] = b[4 * unit * group + positions[i / unit] * unit + i % unit];
  }
  result.term = nvfp4_term(a, selected, a_scale, b_scale);
  return result;
}

}  // namespace narrowgauge
