// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/sparse/ng_transposable_greedy.sv.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "narrowgauge/sparse/nm_mask.hpp"

namespace narrowgauge::systemc {

/// Rows of a side x side block come, its mask leaves. Outputs are functions of the state; step() is a clock edge.
template <std::size_t side, int keep>
class TransposableGreedyCore {
 public:
  using Row = std::array<std::uint32_t, side>;
  using Mask = std::array<bool, side * side>;  ///< row by row

  void reset() {
    row_ = busy_ = 0;
    done_ = false;
  }

  bool ready() const { return busy_ == 0 && !done_; }
  bool valid() const { return done_; }
  const Mask& mask() const { return mask_; }

  /// `row`: the row offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Row* row, bool ready) {
    if (busy_ > 0) {
      done_ = --busy_ == 0;
    } else if (done_) {
      done_ = !ready;
    } else if (row) {
      std::copy(row->begin(), row->end(), magnitudes_.begin() + static_cast<std::ptrdiff_t>(row_ * side));
      row_ = (row_ + 1) % side;
      if (row_ == 0) start();
    }
  }

 private:
  /// A pass and a cycle for each element that stays, and once more for none where some row has room.
  void start() {
    const std::vector<std::uint8_t> kept = transposable_mask_greedy(magnitudes_, keep, static_cast<int>(side));
    std::copy(kept.begin(), kept.end(), mask_.begin());
    const auto count = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), 1));
    busy_ = (side + 1) * (count + (count < side * static_cast<std::size_t>(keep) ? 1 : 0));
  }

  std::array<std::uint64_t, side * side> magnitudes_{};
  Mask mask_{};
  std::size_t row_ = 0, busy_ = 0;  // the next row; cycles to come
  bool done_ = false;
};

}  // namespace narrowgauge::systemc
