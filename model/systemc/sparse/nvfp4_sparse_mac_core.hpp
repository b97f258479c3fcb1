// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/sparse/ng_nvfp4_sparse_mac.sv.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>

#include "narrowgauge/sparse/dot_nvfp4_sparse.hpp"
#include "systemc/mac/exact_acc_core.hpp"

namespace narrowgauge::systemc {

/// Exact sum of terms of sparse blocks that pass as many stages as `dot_cuts` has bits before they are added. Outputs
/// are functions of the state; step() is a clock edge.
template <int acc_width, int dot_cuts, bool split>
class Nvfp4SparseMacCore {
 public:
  using Acc = ExactAccCore<acc_width, split>;

  void reset() { *this = {}; }

  typename Acc::Value acc() const { return acc_.acc(); }
  bool nan() const { return acc_.flags().nan; }
  bool error() const { return acc_.flags().pinf; }  ///< that flag carries it

  void step(bool valid, bool first, const SparseNvfp4Term& term) {
    stages_.push_back({.valid = valid, .first = first, .term = term});
    const Stage out = stages_.front();
    stages_.pop_front();
    acc_.step(out.valid, out.first, static_cast<typename Acc::Value>(out.term.term.value),
              {.nan = out.term.term.nan, .pinf = out.term.error});
  }

 private:
  struct Stage {
    bool valid = false, first = false;
    SparseNvfp4Term term;
  };

  std::deque<Stage> stages_ = std::deque<Stage>(std::popcount(unsigned{dot_cuts}));  ///< oldest first
  Acc acc_;
};

}  // namespace narrowgauge::systemc
