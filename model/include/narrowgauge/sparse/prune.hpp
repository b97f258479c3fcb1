// SPDX-License-Identifier: Apache-2.0
// N:M sparsity of matrices of float32, row-major: masks, pruning, compressed storage. docs/sparsity.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/sparse/metadata.hpp"

namespace narrowgauge {

/// Of `m` neighbours along a row at most `n` are not zero.
struct NmPattern {
  int n = 2, m = 4;
  bool transposable = false;  ///< along columns, too: in every block of m x m
  bool pairs = false;         ///< 4:8 by pairs: of four pairs of neighbours two stay, as packed FP4 has it

  /// "2:4", "4:8-T", "4:8pair".
  std::string name() const;
  /// The pattern of this name, 1 <= N <= M <= 64. Throws Error.
  static NmPattern of(std::string_view name);
  /// Columns, and with `transposable` rows, come in multiples of this.
  int side() const { return m; }
  /// Whether there are metadata for it: 1:2, 2:4 (and 2:4-T), 4:8pair.
  bool compressible() const;
};

enum class Pruning { greedy, mvue, approximate_mvue };

struct PruneOptions {
  Pruning method = Pruning::greedy;
  std::uint64_t seed = 0;  ///< of the random words of mvue: block b has field b of the seed's stream
  int random_bits = 16;    ///< of a word, 1 to 32
};

/// A value an element, and a mask: 1 where an element stays. All that are not kept are zeros.
struct PrunedMatrix {
  std::vector<float> values;
  std::vector<std::uint8_t> mask;
};

/// What stays of the largest magnitudes, a byte an element, 1 or 0. Blocks lie along rows.
///   n:m       the n largest of each block, the lower index among equals
///   2:4-T     the mask of the largest sum, of all 90
///   n:m-T     by the 2-approximation (transposable_mask_greedy)
///   4:8pair   the two pairs with the largest sums, the lower index among equals
/// Sums are those of magnitudes as multiples of 2^-57 of the power of two below the block's largest, cut toward zero:
/// exact if the block's numbers span 33 binades at most. Throws Error for NaN and infinity, and where rows or columns
/// are no multiple of pattern.side().
std::vector<std::uint8_t> nm_mask(std::span<const float> x, std::size_t rows, std::size_t cols,
                                  const NmPattern& pattern);

/// How a transposable mask is chosen.
enum class TransposableMask {
  approximate,  ///< the 2-approximation, any n:m
  enumerate,    ///< the best of all 90, 2:4 alone
};

/// The mask of a transposable pattern, block by block; sums as nm_mask() has them. Throws Error as nm_mask() does, for
/// a pattern that is not transposable, and for enumerate with another one than 2:4-T.
std::vector<std::uint8_t> transposable_mask(std::span<const float> x, std::size_t rows, std::size_t cols,
                                            const NmPattern& pattern, TransposableMask method);

/// The matrix pruned. greedy: values stay as they are, under nm_mask(). mvue: 1:2 and 2:4 by mvue_1_2() and mvue_2_4(),
/// magnitudes being multiples of 2^-60 of the power of two below the block's largest, cut toward zero (exact if the
/// block's numbers span 36 binades at most), and results rounded to nearest even once. approximate_mvue: 2:4 by
/// approximate_mvue_2_4(), in float64, two words of 32 bits a block.
/// Throws Error as nm_mask(), for methods that do not know the pattern, and where a result is beyond float32.
PrunedMatrix prune(std::span<const float> x, std::size_t rows, std::size_t cols, const NmPattern& pattern,
                   const PruneOptions& options = {});

/// What is stored of a compressible pattern: the values that stay, half of each row, and a nibble of metadata for each
/// group of four units (2:4: elements; 4:8pair: pairs; 1:2: halves of an element, two each), the first in the low half
/// of a byte. A row's nibbles fill whole bytes; a half that is left over is 0.
template <class T>
struct CompressedMatrix {
  std::size_t rows = 0, cols = 0;  ///< of the matrix
  NmPattern pattern;
  std::vector<T> values;               ///< rows x cols / 2
  std::vector<std::uint8_t> metadata;  ///< rows x metadata_bytes()

  std::size_t groups() const { return cols / static_cast<std::size_t>(pattern.m); }  ///< of a row
  std::size_t metadata_bytes() const { return (groups() + 1) / 2; }                  ///< of a row
  unsigned nibble(std::size_t row, std::size_t group) const {
    return metadata[row * metadata_bytes() + group / 2] >> (group % 2 * 4) & 15U;
  }
};

/// The elements of x under the mask, for T of float, and std::uint8_t for codes. Where a group keeps fewer than it may,
/// zeros fill up (metadata_of). Throws Error if the pattern has no metadata, or a group keeps more than it may.
template <class T>
CompressedMatrix<T> compress(std::span<const T> x, std::span<const std::uint8_t> mask, std::size_t rows,
                             std::size_t cols, const NmPattern& pattern);

/// The matrix again, row-major, zeros where nothing was kept. Throws Error for illegal metadata, naming row and group,
/// and for lengths that do not fit.
template <class T>
std::vector<T> decompress(const CompressedMatrix<T>& compressed);

/// Sum of squared differences over the sum of squares, 0 of a zero matrix.
double relative_error(std::span<const float> x, std::span<const float> pruned);

/// Expectation of relative_error() under mvue or approximate mvue, over all random choices, from the closed forms of
/// the variance; greedy: relative_error() itself.
double expected_error(std::span<const float> x, std::size_t rows, std::size_t cols, const NmPattern& pattern,
                      Pruning method);

}  // namespace narrowgauge
