// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/norm/ng_range_stats.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "narrowgauge/norm/range_stats.hpp"

namespace narrowgauge::systemc {

/// Channels of beats of 16 codes. Outputs are functions of the state; step() is a clock edge. cuts: `TreeCuts` of the
/// RTL.
template <int cuts>
class RangeStatsCore {
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
  const RangeStats& result() const { return result_; }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, const Codes& codes, bool chunk_last, bool last, bool ready) {
    const bool move = this->ready();
    if (ready) valid_ = false;
    if (!move) return;
    Beat beat{valid, chunk_last || last, last, codes};
    for (Beat& stage : stages_) std::swap(stage, beat);
    if (!beat.valid) return;
    chunk_.insert(chunk_.end(), beat.codes.begin(), beat.codes.end());
    if (!beat.chunk_last) return;
    add_chunk(channel_, chunk_);
    chunk_.clear();
    if (!beat.last) return;
    valid_ = true;
    result_ = channel_;
    channel_ = {};
  }

 private:
  static constexpr std::size_t depth = (cuts & 1) + (cuts >> 1 & 1);
  struct Beat {
    bool valid = false, chunk_last = false, last = false;
    Codes codes{};
  };
  std::array<Beat, depth> stages_{};
  std::vector<std::int8_t> chunk_;  ///< codes of the chunk that has begun
  RangeStats channel_, result_;
  bool valid_ = false;
};

}  // namespace narrowgauge::systemc
