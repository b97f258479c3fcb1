// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/binary/ng_dot_xnor.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "narrowgauge/binary/binary.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Rows of beats of n places. Outputs are functions of the state; step() is a clock edge.
template <int n, bool planes>
class DotXnorCore {
 public:
  using Words = std::array<std::uint64_t, static_cast<std::size_t>(n) / 64>;

  /// What a row comes to.
  struct Result {
    std::uint16_t sum = 0;
    bool bit = false;
  };

  void reset() { *this = {}; }

  bool ready() const { return queue_.ready() || !total_.valid; }
  bool valid() const { return queue_.valid(); }
  /// The row's result that is offered; meaningful only while valid().
  const Result& result() const { return queue_.data(); }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, const Words& x, const Words& w, const Words& mask, bool first, bool last,
            std::uint16_t threshold, bool at_most, bool ready) {
    const bool move = this->ready();
    const PopcountThreshold compare{.value = total_.threshold, .at_most = total_.at_most};
    const Result result{.sum = total_.sum, .bit = compare(total_.sum)};
    queue_.step(total_.valid ? &result : nullptr, ready);
    if (!move) return;
    if (behind_.valid) row_ = static_cast<std::uint16_t>((behind_.first ? 0 : row_) + behind_.sum);
    total_ = behind_;
    total_.valid = behind_.valid && behind_.last;
    total_.sum = row_;
    behind_ = ahead_;
    constexpr BitProduct product = planes ? BitProduct::and_of_planes : BitProduct::xnor_of_signs;
    ahead_ = {.valid = valid,
              .first = first,
              .last = last,
              .sum = static_cast<std::uint16_t>(popcount_dot(x, w, mask, product)),
              .threshold = threshold,
              .at_most = at_most};
  }

 private:
  /// A beat in a stage.
  struct Stage {
    bool valid = false, first = false, last = false;
    std::uint16_t sum = 0, threshold = 0;
    bool at_most = false;
  };

  Stage ahead_, behind_, total_;  ///< behind stages 1, 2 and 3; of the last only what belongs to a row that ended
  Fifo2Core<Result> queue_;
  std::uint16_t row_ = 0;  ///< sum of the beats that passed stage 3
};

}  // namespace narrowgauge::systemc
