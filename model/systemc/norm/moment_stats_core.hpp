// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/norm/ng_moment_stats.sv.
#pragma once

#include <array>
#include <cstdint>

#include "narrowgauge/norm/moment_stats.hpp"
#include "systemc/norm/stats_pipe.hpp"

namespace narrowgauge::systemc {

/// Channels of beats of 16 codes. Outputs are functions of the state; step() is a clock edge. order, cuts: `Order` and
/// `TreeCuts` of the RTL.
template <int order, int cuts>
class MomentStatsCore {
 public:
  using Codes = std::array<std::int8_t, 16>;

  void reset() { *this = {}; }

  bool ready() const { return pipe_.ready(); }
  bool valid() const { return pipe_.valid(); }
  /// Statistics of the channel; meaningful only while valid().
  const MomentStats& result() const { return result_; }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, const Codes& codes, std::int8_t centre, bool last, bool ready) {
    pipe_.step({valid, last, centre, codes}, ready, [&](const Beat& beat) {
      if constexpr (order == 2) {
        add_squares(channel_, beat.codes);
      } else {
        add_distances(channel_, beat.codes, beat.centre);
      }
      if (!beat.last) return;
      result_ = channel_;
      channel_ = {};
    });
  }

 private:
  struct Beat {
    bool valid = false, last = false;
    std::int8_t centre = 0;
    Codes codes{};
  };
  StatsPipe<Beat, cuts> pipe_;
  MomentStats channel_, result_;
};

}  // namespace narrowgauge::systemc
