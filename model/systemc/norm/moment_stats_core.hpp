// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/norm/ng_moment_stats.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "narrowgauge/norm/moment_stats.hpp"

namespace narrowgauge::systemc {

/// Channels of beats of 16 codes. Outputs are functions of the state; step() is a clock edge. order, cuts: `Order` and
/// `TreeCuts` of the RTL.
template <int order, int cuts>
class MomentStatsCore {
 public:
  using Codes = std::array<std::int8_t, 16>;

  void reset() { *this = {}; }

  bool ready() const {
    if constexpr (depth == 0) {
      return !valid_;
    } else {
      return !(valid_ && stages_.back().valid && stages_.back().last);
    }
  }
  bool valid() const { return valid_; }
  /// Statistics of the channel; meaningful only while valid().
  const MomentStats& result() const { return result_; }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, const Codes& codes, std::int8_t centre, bool last, bool ready) {
    const bool move = this->ready();
    if (ready) valid_ = false;
    if (!move) return;
    Beat beat{valid, last, centre, codes};
    for (Beat& stage : stages_) std::swap(stage, beat);
    if (!beat.valid) return;
    if constexpr (order == 2) {
      add_squares(channel_, beat.codes);
    } else {
      add_distances(channel_, beat.codes, beat.centre);
    }
    if (!beat.last) return;
    valid_ = true;
    result_ = channel_;
    channel_ = {};
  }

 private:
  static constexpr std::size_t depth = (cuts & 1) + (cuts >> 1 & 1);
  struct Beat {
    bool valid = false, last = false;
    std::int8_t centre = 0;
    Codes codes{};
  };
  std::array<Beat, depth> stages_{};
  MomentStats channel_, result_;
  bool valid_ = false;
};

}  // namespace narrowgauge::systemc
