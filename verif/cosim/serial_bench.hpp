// SPDX-License-Identifier: Apache-2.0
// What the benches of units that take one input, work on it for some cycles, and then hold one result until it is taken
// have in common: inputs under bubbles, stalls and resets, and the handshake, cycle for cycle beside the cycle model.
#pragma once

#include <deque>
#include <utility>

#include "scoreboard.hpp"

namespace narrowgauge::bench {

/// `Self` (the bench itself) gives, for an `Input`:
///   Input noise()                       what stands at the inputs while nothing is offered
///   void drive(const Input&)            sets the inputs of dut_
///   void step(bool offered, const Input&, bool ready)   a cycle of core_
///   void sample()                       shows the outputs of dut_ to output_
///   void check(const Input&)            compares the result that is valid with what this input gives, and with core_
/// and, where an output means something in every cycle, void check_always().
template <class Self, class Model, class Core, class Input>
class SerialBench {
 protected:
  SerialBench(int argc, char** argv, const char* name, std::uint64_t vectors)
      : bench_(argc, argv, name, vectors), dut_(bench_), output_(bench_, "output") {}

  std::uint32_t below(std::uint32_t bound) { return bench_.rng().below(bound); }
  std::uint32_t bits(unsigned n) { return static_cast<std::uint32_t>(bench_.rng().bits(n)); }

  /// An input to come; when many wait, all are driven at once, without bubbles and stalls.
  void offer(const Input& input) {
    inputs_.push_back(input);
    if (inputs_.size() >= 100) drain(0, 0);
  }

  void drain(double bubble, double stall) {
    while (!inputs_.empty() || !taken_.empty()) cycle(bubble, stall);
  }

  void reset() {
    dut_->valid_i = 0;
    dut_->ready_i = 0;
    dut_.reset_without_edge(bench_);
    core_.reset();
    inputs_.clear();
    taken_.abandon();
    output_.clear();
    outputs();
    dut_.reset();
  }

  /// Drains what has been offered with bubbles and stalls of a random density; now and then `input` is begun after it
  /// and a reset comes within `cycles`.
  template <class Make>
  void drain_or_reset(double chance, std::uint32_t cycles, Make&& input) {
    const double bubble = below(3) / 4.0, stall = below(4) / 5.0;
    drain(bubble, stall);
    if (!bench_.rng().chance(chance)) return;
    inputs_.push_back(input());
    for (std::uint32_t n = below(cycles); n > 0; --n) cycle(0, 0.5);
    reset();
  }

  int finish() {
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10,
                  [] { return "there was hardly a result, or none ever waited"; });
    return bench_.finish();
  }

  void check_always() {}

  std::uint64_t taken() const { return number_; }

  Bench bench_;
  Dut<Model> dut_;
  HandshakeChecker output_;
  Core core_;
  static constexpr auto model = [] { return "the cycle model"; };

 private:
  Self& self() { return static_cast<Self&>(*this); }

  void outputs() {
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, unsigned{core_.ready()}, model);
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{core_.valid()}, model);
    self().check_always();
    if (!dut_->valid_o) return;
    if (const Input* const input = taken_.shown()) self().check(*input);
  }

  void cycle(double bubble, double stall) {
    // What was offered stays offered.
    offered_ = !inputs_.empty() && (offered_ || bubble == 0 || !bench_.rng().chance(bubble));
    const Input input = offered_ ? inputs_.front() : self().noise();
    dut_->valid_i = offered_;
    self().drive(input);
    dut_->ready_i = stall == 0 || !bench_.rng().chance(stall);
    dut_.eval();
    outputs();
    self().sample();
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    const bool taken = offered_ && dut_->ready_o, given = dut_->valid_o && dut_->ready_i;
    self().step(offered_, input, dut_->ready_i);
    dut_.tick();
    if (given && !taken_.empty()) taken_.pop_front();
    if (taken) {
      bench_.vector();
      taken_.push_back(input);
      inputs_.pop_front();
      offered_ = false;
      ++number_;
    }
    outputs();
  }

  std::deque<Input> inputs_;
  Scoreboard<Input> taken_{bench_, "results"};
  bool offered_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace narrowgauge::bench
