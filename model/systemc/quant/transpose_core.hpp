// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_transpose.sv.
#pragma once

#include <array>
#include <cstddef>

namespace narrowgauge::systemc {

/// Rows of `size` elements of type T come, columns of square blocks leave. Outputs are functions of the state; step()
/// is a clock edge.
template <class T, std::size_t size>
class TransposeCore {
  static_assert(size >= 2 && (size & (size - 1)) == 0, "TransposeCore: size must be a power of two, 2 or more");

 public:
  using Line = std::array<T, size>;  ///< a row, or a column

  void reset() {
    write_ = read_ = 0;
    full_ = {};
    valid_ = false;
  }

  bool ready() const { return !full_[write_ / size]; }
  bool valid() const { return valid_; }
  const Line& column() const { return column_; }

  /// `row`: the row offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Line* row, bool ready) {
    const bool push = row && this->ready(), fetch = full_[read_ / size] && (!valid_ || ready);
    if (fetch) {
      const std::size_t bank = read_ / size * size, column = read_ % size;
      for (std::size_t i = 0; i < size; ++i) column_[i] = rows_[bank + i][column];
      if (column == size - 1) full_[read_ / size] = false;
      read_ = (read_ + 1) % (2 * size);
    }
    if (push) {
      rows_[write_] = *row;
      if (write_ % size == size - 1) full_[write_ / size] = true;
      write_ = (write_ + 1) % (2 * size);
    }
    valid_ = fetch || (valid_ && !ready);
  }

 private:
  std::array<Line, 2 * size> rows_{};  // of two banks
  std::array<bool, 2> full_{};
  std::size_t write_ = 0, read_ = 0;  // the next row of the banks, and the next column
  bool valid_ = false;
  Line column_{};
};

}  // namespace narrowgauge::systemc
