// SPDX-License-Identifier: Apache-2.0
// Parts of the matrix products of all schemes: how results are cut into jobs, and tables of block scales.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels.hpp"
#include "narrowgauge/format/format.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge::detail {

inline constexpr float nan_result = std::numeric_limits<float>::quiet_NaN();  // 0x7FC00000

inline std::size_t ceil_div(std::size_t x, std::size_t y) { return (x + y - 1) / y; }

/// Rows x columns of the result cut into jobs: large enough to reuse packed panels, small enough to keep all threads
/// busy.
struct Jobs {
  Jobs(std::size_t m, std::size_t n, unsigned threads)
      : m(m), n(n), columns(16 * tile_columns), across(ceil_div(n, columns)) {
    const std::size_t wanted = ceil_div(4 * thread_count(threads), across);
    rows = std::clamp(ceil_div(ceil_div(m, wanted), tile_rows) * tile_rows, tile_rows, 16 * tile_rows);
  }
  std::size_t count() const { return across * ceil_div(m, rows); }

  std::size_t m, n, rows = 0, columns, across;
};

/// One job's rectangle.
struct Patch {
  Patch(const Jobs& jobs, std::size_t job)
      : row(job / jobs.across * jobs.rows),
        column(job % jobs.across * jobs.columns),
        rows(std::min(jobs.rows, jobs.m - row)),
        columns(std::min(jobs.columns, jobs.n - column)),
        tiles_down(ceil_div(rows, tile_rows)),
        tiles_across(ceil_div(columns, tile_columns)) {}
  /// Calls f(row, column, count, index into tiles of results) for every row of every tile.
  template <class F>
  void each_row(const F& f) const {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; j += tile_columns) {
        const std::size_t tile = j / tile_columns * tiles_down + i / tile_rows;
        f(row + i, column + j, std::min(tile_columns, columns - j), tile * tile_size + i % tile_rows * tile_columns);
      }
    }
  }

  std::size_t row, column, rows, columns, tiles_down, tiles_across;
};

/// Scales by their codes in units of 1 / per_unit; 0 for NaN.
template <class T>
std::array<T, 256> scale_table(Format format, double per_unit) {
  const FormatDesc& scale = desc(format);
  std::array<T, 256> table;
  for (unsigned code = 0; code < 256; ++code) {
    table[code] = scale.is_nan(code) ? 0 : static_cast<T>(decode(scale, code) * per_unit);
  }
  return table;
}

/// For each vector whether it holds a NaN block scale.
inline std::vector<bool> nan_vectors(const QuantizedMatrix& q, const FormatDesc& scale) {
  std::vector<bool> found(q.rows);
  for (std::size_t i = 0; i < q.scales.size(); ++i) {
    if (scale.is_nan(q.scales[i])) found[i / q.blocks()] = true;
  }
  return found;
}

}  // namespace narrowgauge::detail
