// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/mac/ng_nvfp4_mac.sv.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "systemc/mac/exact_acc_core.hpp"

namespace narrowgauge::systemc {

/// Exact sum of NVFP4 terms that pass as many stages as `dot_cuts` has bits before they are added. Outputs are
/// functions of the state; step() is a clock edge.
template <int acc_width, int dot_cuts, bool split>
class Nvfp4MacCore {
 public:
  using Acc = ExactAccCore<acc_width, split>;

  void reset() { *this = {}; }

  typename Acc::Value acc() const { return acc_.acc(); }
  bool nan() const { return acc_.flags().nan; }

  void step(bool valid, bool first, const Nvfp4Term& term) {
    Stage in{.valid = valid, .first = first, .term = term};
    if constexpr (stage_count > 0) {
      std::swap(in, stages_[oldest_]);
      oldest_ = (oldest_ + 1) % stages_.size();
    }
    acc_.step(in.valid, in.first, static_cast<typename Acc::Value>(in.term.value), {.nan = in.term.nan});
  }

 private:
  static constexpr unsigned stage_count = std::popcount(unsigned{dot_cuts});
  struct Stage {
    bool valid = false, first = false;
    Nvfp4Term term;
  };

  std::array<Stage, stage_count> stages_;  ///< a ring, the oldest at oldest_
  std::size_t oldest_ = 0;
  Acc acc_;
};

}  // namespace narrowgauge::systemc
