// SPDX-License-Identifier: Apache-2.0
// A bench of a unit with cuts (docs/cuts.md) is the bench of the combinational unit; what an input gives is compared
// when it has come through. With NG_CUTS of 0 that is at once, and no clock ticks.
#pragma once

#include <bit>
#include <functional>
#include <utility>

#include "scoreboard.hpp"

namespace narrowgauge::bench {

/// Edges without enable come at random: nothing may move then, and inputs that wait must not reach the outputs.
/// A comparison waits in the pipe, so the pipe must not outlive what the comparison refers to: an object whose
/// comparisons capture `this` owns the pipe as a member behind the members that they refer to. A pipe cannot be copied
/// or moved, and the run fails if the pipe ends before drain().
template <class Model>
class CutPipe {
 public:
  static constexpr int latency = std::popcount(unsigned{NG_CUTS});

  CutPipe(Bench& bench, Dut<Model>& dut) : bench_(bench), dut_(dut) {
    dut_->clk_i = 0;
    dut_->en_i = latency == 0;
  }
  CutPipe(const CutPipe&) = delete;
  CutPipe& operator=(const CutPipe&) = delete;

  /// The inputs are set. compare() compares the outputs with what these inputs give, and holds copies of what it needs.
  template <class Compare>
  void operator()(Compare&& compare) {
    bench_.vector();
    if constexpr (latency == 0) {
      dut_.eval();
      compare();
    } else {
      while (bench_.rng().chance(0.25)) edge(false);
      enter(std::forward<Compare>(compare));
    }
  }

  /// Lets out what is on its way.
  void drain() {
    for (int i = 1; i < latency && !inside_.empty(); ++i) enter(std::function(inside_.back()));
    inside_.abandon();  // copies of the last comparison, which was made
  }

 private:
  void enter(std::function<void()> compare) {
    edge(true);
    inside_.push_back(std::move(compare));
    if (inside_.size() > latency) inside_.pop_front();
    show();
  }

  void edge(bool enable) {
    dut_->en_i = enable;
    dut_.eval();
    show();
    dut_.tick();
    if (!enable) show();
  }

  /// Compares the outputs, if they are of what went in.
  void show() {
    if (inside_.size() == latency) inside_.front()();
  }

  Bench& bench_;
  Dut<Model>& dut_;
  Scoreboard<std::function<void()>> inside_{bench_, "comparisons in the pipe"};
};

}  // namespace narrowgauge::bench
