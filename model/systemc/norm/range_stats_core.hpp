// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/norm/ng_range_stats.sv.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "narrowgauge/norm/range_stats.hpp"
#include "systemc/norm/stats_pipe.hpp"

namespace narrowgauge::systemc {

/// Channels of beats of 16 codes. Outputs are functions of the state; step() is a clock edge. cuts: `TreeCuts` of the
/// RTL.
template <int cuts>
class RangeStatsCore {
 public:
  using Codes = std::array<std::int8_t, 16>;

  void reset() { *this = {}; }

  bool ready() const { return pipe_.ready(); }
  bool valid() const { return pipe_.valid(); }
  /// Statistics of the channel; meaningful only while valid().
  const RangeStats& result() const { return result_; }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, const Codes& codes, bool chunk_last, bool last, bool ready) {
    pipe_.step({valid, chunk_last || last, last, codes}, ready, [&](const Beat& beat) {
      chunk_.insert(chunk_.end(), beat.codes.begin(), beat.codes.end());
      if (!beat.chunk_last) return;
      add_chunk(channel_, chunk_);
      chunk_.clear();
      if (!beat.last) return;
      result_ = channel_;
      channel_ = {};
    });
  }

 private:
  struct Beat {
    bool valid = false, chunk_last = false, last = false;
    Codes codes{};
  };
  StatsPipe<Beat, cuts> pipe_;
  std::vector<std::int8_t> chunk_;  ///< codes of the chunk that has begun
  RangeStats channel_, result_;
};

}  // namespace narrowgauge::systemc
