// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_l2_normalize.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "narrowgauge/quant/l2_normalize.hpp"

namespace narrowgauge::systemc {

/// Rows of `max_elements` numbers at most, FP32 codes. Outputs are functions of the state; step() is a clock edge.
template <std::size_t max_elements, std::uint32_t epsilon = l2_epsilon>
class L2NormalizeCore {
  static_assert(max_elements >= 2 && (max_elements & (max_elements - 1)) == 0,
                "L2NormalizeCore: max_elements must be a power of two, 2 or more");

 public:
  void reset() { *this = {}; }

  bool ready() const { return !whole_; }
  bool valid() const { return valid_; }
  /// Beside valid().
  bool last() const { return given_ == size_; }
  std::uint32_t y() const { return valid_ ? row_[given_ - 1] : 0; }
  bool too_long() const { return too_long_; }

  /// valid: an element is offered. ready: ready_i.
  void step(bool valid, std::uint32_t x, bool last, bool ready) {
    if (!whole_) {
      if (!valid) return;
      row_[size_++] = x;
      whole_ = last || size_ == max_elements;
      if (!whole_) return;
      too_long_ |= !last;
      const std::span<std::uint32_t> row(row_.data(), size_);
      // The last square is added; the root is begun, found, and taken.
      to_go_ = rsqrt_fp32_steps(sum_of_squares(row, epsilon)) + 3;
      l2_normalize(row, row, epsilon);
    } else if (to_go_ > 0) {
      --to_go_;
    } else if (given_ < size_ && (!valid_ || ready)) {
      valid_ = true;
      ++given_;
    } else if (ready) {
      size_ = given_ = 0;
      valid_ = whole_ = false;
    }
  }

 private:
  std::array<std::uint32_t, max_elements> row_{};
  std::size_t size_ = 0, given_ = 0;  ///< elements of the row; those offered so far
  bool whole_ = false, valid_ = false, too_long_ = false;
  int to_go_ = 0;  ///< edges until the root is there
};

}  // namespace narrowgauge::systemc
