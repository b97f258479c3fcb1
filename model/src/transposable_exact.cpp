// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/transposable_exact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"
#include "prune_parts.hpp"

namespace narrowgauge {
namespace {

/// A flow of least cost through a block: a unit from row to column for each element that stays, N from every row and
/// into every column. Successive shortest paths with prices keep this: cost - price of the row - price of the column is
/// at least 0 where an element goes, at most 0 where it stays; columns with room have price 0. Costs are magnitudes,
/// negated: below 2^41, so that no path leaves 64 bits.
class Flow {
 public:
  explicit Flow(const NmPattern& pattern) : n_(pattern.n), m_(static_cast<std::size_t>(pattern.m)) {}

  /// Bits of each row: the columns that stay. `magnitudes` are those of the block, row by row.
  std::span<const std::uint64_t> solve(std::span<const std::uint64_t> magnitudes) {
    start(magnitudes);
    for (std::size_t row = 0; row < m_; ++row)
      while (std::popcount(row_[row]) < n_) augment(row);
    return std::span(row_).first(m_);
  }

 private:
  using Cost = std::int64_t;
  static constexpr std::size_t most = 64;
  static constexpr Cost never = std::numeric_limits<Cost>::max();

  struct Node {
    Cost price, distance;
    std::size_t from;  ///< the node before it on the shortest path
  };

  Cost reduced(std::size_t row, std::size_t column) const {
    return -static_cast<Cost>(magnitudes_[row * m_ + column]) - rows_[row].price - columns_[column].price;
  }

  /// The n of `count` candidates with the least keys, the first among equals: they stand first, the last of them at n
  /// - 1.
  void select(std::size_t count) {
    const auto begin = candidates_.begin();
    std::partial_sort(begin, begin + n_, begin + static_cast<std::ptrdiff_t>(count));
  }

  /// Each row takes its best n; a column that is taken too often raises its price until n rows remain.
  void start(std::span<const std::uint64_t> magnitudes) {
    magnitudes_ = magnitudes;
    std::fill_n(column_.begin(), m_, 0);
    for (std::size_t row = 0; row < m_; ++row) {
      rows_[row].price = columns_[row].price = 0;
    }
    for (std::size_t row = 0; row < m_; ++row) {
      for (std::size_t column = 0; column < m_; ++column) candidates_[column] = {reduced(row, column), column};
      select(m_);
      row_[row] = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) keep(row, candidates_[i].second);
      rows_[row].price = candidates_[static_cast<std::size_t>(n_) - 1].first;
    }
    for (std::size_t column = 0; column < m_; ++column) {
      const auto taken = static_cast<std::size_t>(std::popcount(column_[column]));
      if (taken <= static_cast<std::size_t>(n_)) continue;
      std::size_t count = 0;
      for (std::uint64_t rest = column_[column]; rest != 0; rest &= rest - 1) {
        const auto row = static_cast<std::size_t>(std::countr_zero(rest));
        candidates_[count++] = {reduced(row, column), row};
      }
      select(count);
      columns_[column].price = candidates_[static_cast<std::size_t>(n_) - 1].first;
      for (std::size_t i = static_cast<std::size_t>(n_); i < count; ++i) drop(candidates_[i].second, column);
    }
  }

  void keep(std::size_t row, std::size_t column) {
    row_[row] |= std::uint64_t{1} << column;
    column_[column] |= std::uint64_t{1} << row;
  }
  void drop(std::size_t row, std::size_t column) {
    row_[row] &= ~(std::uint64_t{1} << column);
    column_[column] &= ~(std::uint64_t{1} << row);
  }

  /// The open node of least distance, by its index.
  template <class Nodes>
  static std::size_t nearest(const Nodes& nodes, std::uint64_t open) {
    auto best = static_cast<std::size_t>(std::countr_zero(open));
    for (std::uint64_t rest = open & (open - 1); rest != 0; rest &= rest - 1) {
      const auto other = static_cast<std::size_t>(std::countr_zero(rest));
      if (nodes[other].distance < nodes[best].distance) best = other;
    }
    return best;
  }

  /// One unit more from a row, along the shortest path to a column with room (Dijkstra).
  void augment(std::size_t source) {
    for (std::size_t i = 0; i < m_; ++i) rows_[i].distance = columns_[i].distance = never;
    rows_[source].distance = 0;
    std::uint64_t open_rows = std::uint64_t{1} << source, open_columns = 0, closed_rows = 0, closed_columns = 0;
    const std::uint64_t all = ~std::uint64_t{0} >> (most - m_);
    std::size_t target = 0;
    for (;;) {
      const std::size_t row = open_rows != 0 ? nearest(rows_, open_rows) : most;
      const std::size_t column = open_columns != 0 ? nearest(columns_, open_columns) : most;
      if (row != most && (column == most || rows_[row].distance <= columns_[column].distance)) {
        open_rows &= ~(std::uint64_t{1} << row);
        closed_rows |= std::uint64_t{1} << row;
        for (std::uint64_t rest = all & ~row_[row] & ~closed_columns; rest != 0; rest &= rest - 1) {
          const auto next = static_cast<std::size_t>(std::countr_zero(rest));
          const Cost distance = rows_[row].distance + reduced(row, next);
          if (distance < columns_[next].distance) columns_[next] = {columns_[next].price, distance, row};
        }
        open_columns |= all & ~row_[row] & ~closed_columns;
        continue;
      }
      if (std::popcount(column_[column]) < n_) {
        target = column;
        break;
      }
      open_columns &= ~(std::uint64_t{1} << column);
      closed_columns |= std::uint64_t{1} << column;
      for (std::uint64_t rest = column_[column] & ~closed_rows; rest != 0; rest &= rest - 1) {
        const auto next = static_cast<std::size_t>(std::countr_zero(rest));
        const Cost distance = columns_[column].distance - reduced(next, column);
        if (distance < rows_[next].distance) rows_[next] = {rows_[next].price, distance, column};
      }
      open_rows |= column_[column] & ~closed_rows;
    }
    const Cost length = columns_[target].distance;
    for (std::size_t i = 0; i < m_; ++i) {
      if ((closed_rows >> i & 1) != 0) rows_[i].price += length - rows_[i].distance;
      if ((closed_columns >> i & 1) != 0) columns_[i].price -= length - columns_[i].distance;
    }
    for (std::size_t column = target;;) {
      const std::size_t row = columns_[column].from;
      keep(row, column);
      if (row == source) return;
      column = rows_[row].from;
      drop(row, column);
    }
  }

  int n_;
  std::size_t m_;
  std::span<const std::uint64_t> magnitudes_;
  std::array<std::uint64_t, most> row_{}, column_{};  ///< what stays, by row and by column
  std::array<Node, most> rows_{}, columns_{};
  std::array<std::pair<Cost, std::size_t>, most> candidates_{};
};

}  // namespace

std::vector<std::uint8_t> transposable_mask_exact(std::span<const float> x, std::size_t rows, std::size_t cols,
                                                  const NmPattern& pattern) {
  if (!pattern.transposable)
    throw Error("transposable mask of " + pattern.name() + "; expected a transposable pattern such as 4:8-T");
  detail::check_prunable(x, rows, cols, pattern);
  const auto m = static_cast<std::size_t>(pattern.m);
  std::vector<std::uint8_t> mask(x.size());
  std::vector<float> block(m * m);
  std::vector<std::uint64_t> magnitudes(m * m);
  Flow flow(pattern);
  detail::Pace pace;
  for (std::size_t row = 0; row < rows; row += m) {
    for (std::size_t col = 0; col < cols; col += m) {
      pace(m * m);
      for (std::size_t r = 0; r < m; ++r) std::copy_n(x.data() + (row + r) * cols + col, m, block.data() + r * m);
      detail::align(block, 40, magnitudes);
      const std::span<const std::uint64_t> kept = flow.solve(magnitudes);
      for (std::size_t r = 0; r < m; ++r)
        for (std::size_t c = 0; c < m; ++c) mask[(row + r) * cols + col + c] = kept[r] >> c & 1;
    }
  }
  return mask;
}

}  // namespace narrowgauge
