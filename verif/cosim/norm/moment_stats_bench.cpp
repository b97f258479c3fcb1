// SPDX-License-Identifier: Apache-2.0
// ng_moment_stats against its golden function, channel by channel, and cycle for cycle against the cycle model: every
// code in every lane, of order 1 beside centres that it equals or is next to, channels at full speed to the cycle,
// channels that fill the sums at both ends and beyond; then random channels under bubbles, stalls and resets. Build
// parameters: NG_ORDER, NG_TREE_CUTS.
#include <string>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/norm/moment_stats_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned latency = 1 + (NG_TREE_CUTS & 1) + (NG_TREE_CUTS >> 1);

class MomentStatsBench {
 public:
  MomentStatsBench(int argc, char** argv)
      : bench_(argc, argv, "moment_stats"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    lanes();
    sums();
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

 private:
  double density() { return (1 + bench_.rng().below(4)) / 4.0; }

  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    channel_ = {};
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (int i = 0; i < 10; ++i) cycle(false, false, true);
    bench_.expect(expected_.empty(), [] { return "a channel that ended did not leave"; });
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

  /// Channels of a beat, of which one lane has each code, and all others one.
  void lanes() {
    for (unsigned lane = 0; lane < 16; ++lane) {
      for (int code = -128; code < 128; ++code) {
        codes_.fill(static_cast<std::int8_t>(lane % 2 ? bench_.rng().bits(8) : 0));
        codes_[lane] = static_cast<std::int8_t>(code);
        centre_ = static_cast<std::int8_t>(code + static_cast<int>(bench_.rng().below(3)) - 1);
        cycle(true, true, true);
        cycle(false, false, true);
      }
    }
    drain();
  }

  /// 65536 codes, and more, whose sums wrap around; with odd numbers of beats, too.
  void sums() {
    for (const int code : {-128, 127}) {
      for (const unsigned beats : {4096U, 4129U, 6211U, 8192U}) {
        codes_.fill(static_cast<std::int8_t>(code));
        centre_ = static_cast<std::int8_t>(code < 0 ? 127 : -128);
        for (unsigned i = 1; i <= beats; ++i) cycle(true, i == beats, true);
        drain();
      }
    }
  }

  void random_beat() {
    const auto common = static_cast<int>(bench_.rng().bits(8));
    for (std::int8_t& code : codes_) {
      const auto any = static_cast<int>(bench_.rng().bits(8));
      code = static_cast<std::int8_t>(kind_ == 0   ? any
                                      : kind_ == 1 ? common ^ (any & 1)
                                      : kind_ == 2 ? any & 3
                                                   : common);
    }
    centre_ = static_cast<std::int8_t>(bench_.rng().chance(0.5) ? common : static_cast<int>(bench_.rng().bits(8)));
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const MomentStats* const shown = expected_.shown();
    if (shown == nullptr) return;
    const auto channel = [] { return "the channel"; };
    bench_.expect_eq("spread_o", static_cast<std::int32_t>(dut_->spread_o), shown->spread, channel);
    bench_.expect_eq("sum_o", wrap_signed(dut_->sum_o, 24), shown->sum, channel);
    bench_.expect(core_.result() == *shown, [] { return "the cycle model has other statistics"; });
  }

  void cycle(bool valid, bool last, bool ready) {
    dut_->valid_i = valid;
    dut_->centre_i = static_cast<std::uint8_t>(centre_);
    dut_->last_i = last;
    dut_->ready_i = ready;
    for (unsigned lane = 0; lane < 16; ++lane) {
      set_bits(dut_->codes_i, lane * 8, 8, static_cast<std::uint8_t>(codes_[lane]));
    }
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->spread_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    refused_ += valid && !dut_->ready_o;
    if (valid && dut_->ready_o) take(last);
    core_.step(valid, codes_, centre_, last, ready);
    dut_.tick();
    outputs();
  }

  void take(bool last) {
    if constexpr (NG_ORDER == 2) {
      add_squares(channel_, codes_);
    } else {
      add_distances(channel_, codes_, centre_);
    }
    if (!last) return;
    expected_.push_back(channel_);
    channel_ = {};
  }

  using Core = systemc::MomentStatsCore<NG_ORDER, NG_TREE_CUTS>;
  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Core::Codes codes_{};
  std::int8_t centre_ = 0;
  std::uint32_t kind_ = 0;
  MomentStats channel_;  ///< of the beats that came
  Scoreboard<MomentStats> expected_{bench_, "channels"};
  std::uint64_t refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return MomentStatsBench(argc, argv).run(); }
