// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/luq/ng_log_prune.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "narrowgauge/luq/log_prune.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

struct LogPruneParams {
  int lanes, frac_bits, rand_bits, count_bits;
};

/// Beats of BF16 codes through a queue of two and three registers. Outputs are functions of the state; step() is a
/// clock edge.
template <LogPruneParams params>
class LogPruneCore {
  static constexpr auto lanes = static_cast<std::size_t>(params.lanes);

 public:
  using Data = std::array<std::uint16_t, lanes>;
  struct Beat {
    Data data{};
    std::array<std::uint32_t, lanes> random{};
    std::uint16_t threshold = 0;
    bool last = false;
  };

  void reset() {
    queue_.reset();
    for (Stage& stage : stages_) stage.valid = false;
    first_ = true;
  }

  bool ready() const { return queue_.ready(); }
  bool valid() const { return stages_[2].valid; }
  const Data& data() const { return data_; }
  bool last() const { return last_; }
  /// Of the tensor up to the beat that is offered.
  const LogSums& sums() const { return sums_; }

  /// `beat`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Beat* beat, bool ready) {
    const bool move = !valid() || ready;
    if (move) {
      stages_[2] = stages_[1];
      stages_[1] = stages_[0];
      stages_[0] = {queue_.valid(), queue_.data()};
      if (valid()) leave(stages_[2].beat);
    }
    queue_.step(beat, move);
  }

 private:
  struct Stage {
    bool valid = false;
    Beat beat{};
  };

  void leave(const Beat& beat) {
    if (first_) sums_ = {};
    for (std::size_t i = 0; i < lanes; ++i) {
      sums_.add(beat.data[i], params.frac_bits);
      data_[i] = prune_bf16(beat.data[i], beat.threshold, beat.random[i], params.rand_bits);
    }
    first_ = last_ = beat.last;
  }

  Fifo2Core<Beat> queue_;
  std::array<Stage, 3> stages_{};
  LogSums sums_{};
  Data data_{};
  bool last_ = false, first_ = true;
};

}  // namespace narrowgauge::systemc
