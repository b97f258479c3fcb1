// SPDX-License-Identifier: Apache-2.0
// The pipe that rtl/norm/ng_range_stats.sv and ng_moment_stats.sv have in common: beats move through the cuts, a result
// waits in registers of its own.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace narrowgauge::systemc {

/// Beat: with `valid`, and `last` where a channel ends. cuts: `TreeCuts` of the RTL.
template <class Beat, int cuts>
class StatsPipe {
 public:
  bool ready() const {
    if constexpr (depth == 0) {
      return !valid_;
    } else {
      return !(valid_ && stages_.back().valid && stages_.back().last);
    }
  }
  /// A result waits.
  bool valid() const { return valid_; }

  /// A clock edge. ready: ready_i. add(beat): the beat at the end of the pipe reaches its channel.
  template <class Add>
  void step(Beat beat, bool ready, const Add& add) {
    const bool move = this->ready();
    if (ready) valid_ = false;
    if (!move) return;
    for (Beat& stage : stages_) std::swap(stage, beat);
    if (!beat.valid) return;
    add(beat);
    valid_ |= beat.last;
  }

 private:
  static constexpr std::size_t depth = (cuts & 1) + (cuts >> 1 & 1);
  std::array<Beat, depth> stages_{};
  bool valid_ = false;
};

}  // namespace narrowgauge::systemc
