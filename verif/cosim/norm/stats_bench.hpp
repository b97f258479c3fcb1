// SPDX-License-Identifier: Apache-2.0
// What the benches of ng_range_stats and ng_moment_stats have in common: beats of 16 codes, channels at full speed to
// the cycle, and random channels under bubbles, stalls and resets, cycle for cycle against the cycle model.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/norm/range_stats.hpp"

namespace narrowgauge::bench {

/// Stats: of a channel. Core: the cycle model. cuts: `TreeCuts`.
template <class Stats, class Core, int cuts>
class StatsBench {
 public:
  StatsBench(int argc, char** argv, const char* unit)
      : bench_(argc, argv, unit), dut_(bench_), output_(bench_, "output") {}
  virtual ~StatsBench() = default;

  int run() {
    reset();
    full_speed();
    directed();
    double push = 1, pop = 1, end = 0.2;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.01)) {  // a new density
        push = density(), pop = density(), end = density();
        kind_ = bench_.rng().below(4);
      }
      if (bench_.rng().chance(0.001)) reset();
      random_beat();
      cycle(bench_.rng().chance(push), bench_.rng().chance(end), bench_.rng().chance(pop));
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10,
                  [] { return "hardly a channel left, or none waited"; });
    bench_.expect(refused_ > 10, [] { return "no beat waited"; });
    return bench_.finish();
  }

 protected:
  virtual void directed() = 0;
  /// Beside the codes, before a beat at random.
  virtual void random_more() = 0;
  /// Inputs besides codes and last_i; what a channel loses in a reset; a beat that is taken, and at the end the
  /// channel.
  virtual void more_inputs() = 0;
  virtual void forget() = 0;
  virtual void add(bool last, Stats& channel) = 0;
  virtual void step_core(bool valid, bool last, bool ready) = 0;
  virtual void compare(const Stats& shown) = 0;

  double density() { return (1 + bench_.rng().below(4)) / 4.0; }

  void drain() {
    for (int i = 0; i < 10; ++i) cycle(false, false, true);
    bench_.expect(expected_.empty(), [] { return "a channel that ended did not leave"; });
  }

  /// Any codes, such that are one apart, small ones, or equal ones.
  void random_beat() {
    const auto common = static_cast<int>(bench_.rng().bits(8));
    for (std::int8_t& code : codes_) {
      const auto any = static_cast<int>(bench_.rng().bits(8));
      code = static_cast<std::int8_t>(kind_ == 0   ? any
                                      : kind_ == 1 ? common ^ (any & 1)
                                      : kind_ == 2 ? any & 3
                                                   : common);
    }
    random_more();
  }

  void cycle(bool valid, bool last, bool ready) {
    dut_->valid_i = valid;
    dut_->last_i = last;
    dut_->ready_i = ready;
    for (unsigned lane = 0; lane < 16; ++lane) {
      set_bits(dut_->codes_i, lane * 8, 8, static_cast<std::uint8_t>(codes_[lane]));
    }
    more_inputs();
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->sum_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    refused_ += valid && !dut_->ready_o;
    if (valid && dut_->ready_o) {
      add(last, channel_);
      if (last) {
        expected_.push_back(channel_);
        channel_ = {};
      }
    }
    step_core(valid, last, ready);
    dut_.tick();
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  Core core_;
  typename Core::Codes codes_{};

 private:
  static constexpr unsigned latency = 1 + (cuts & 1) + (cuts >> 1);

  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    channel_ = {};
    forget();
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  /// Channels of three beats, one after the other: with cuts no beat waits, and the result comes `latency` edges after
  /// the last beat. Without cuts a result that waits costs a cycle.
  void full_speed() {
    constexpr unsigned period = latency == 1 ? 4 : 3;
    for (unsigned i = 0; i < 30; ++i) {
      const auto when = [&] { return "cycle " + std::to_string(i) + " at full speed"; };
      const bool result = i >= 2 + latency && (i - 2 - latency) % period == 0;
      bench_.expect_eq("ready_o", bool(dut_->ready_o), latency > 1 || !result, when);
      bench_.expect_eq("valid_o", bool(dut_->valid_o), result, when);
      random_beat();
      const unsigned beat = i % period;
      cycle(beat < 3, beat == 2, true);
    }
    drain();
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const Stats* const shown = expected_.shown();
    if (shown == nullptr) return;
    compare(*shown);
    bench_.expect(core_.result() == *shown, [] { return "the cycle model has other statistics"; });
  }

  HandshakeChecker output_;
  std::uint32_t kind_ = 0;
  Stats channel_;  ///< of the beats that came
  Scoreboard<Stats> expected_{bench_, "channels"};
  std::uint64_t refused_ = 0;
};

}  // namespace narrowgauge::bench
