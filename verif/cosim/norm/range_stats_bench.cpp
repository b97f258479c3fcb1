// SPDX-License-Identifier: Apache-2.0
// ng_range_stats against its golden function, channel by channel, and cycle for cycle against the cycle model: each bit
// of each lane alone, all pairs of lanes with codes that are equal or one apart, channels at full speed to the cycle,
// channels that fill the sums at both ends and beyond; then random channels under bubbles, stalls and resets. Build
// parameter: NG_TREE_CUTS.
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/norm/range_stats_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned latency = 1 + (NG_TREE_CUTS & 1) + (NG_TREE_CUTS >> 1);

class RangeStatsBench {
 public:
  RangeStatsBench(int argc, char** argv) : bench_(argc, argv, "range_stats"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    lanes();
    sums();
    double push = 1, pop = 1, chunk = 0.2, end = 0.2;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.01)) {  // a new density
        push = density(), pop = density(), chunk = density(), end = density();
        kind_ = bench_.rng().below(4);
      }
      if (bench_.rng().chance(0.001)) reset();
      random_beat();
      cycle(bench_.rng().chance(push), bench_.rng().chance(chunk), bench_.rng().chance(end), bench_.rng().chance(pop));
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
    chunk_.clear();
    channel_ = {};
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (int i = 0; i < 10; ++i) cycle(false, false, false, true);
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
      cycle(beat < 3, false, beat == 2, true);
    }
    drain();
  }

  void lanes() {
    for (unsigned lane = 0; lane < 16; ++lane) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        for (const int rest : {0, -1, 127, -128}) {
          codes_.fill(static_cast<std::int8_t>(rest));
          codes_[lane] = static_cast<std::int8_t>(rest ^ 1 << bit);
          one_channel();
        }
      }
      for (unsigned other = 0; other < 16; ++other) {
        for (const int rest : {127, -128}) {  // for the minimum, for the maximum
          codes_.fill(static_cast<std::int8_t>(rest));
          const int code = static_cast<int>(bench_.rng().below(254)) - 127;
          codes_[lane] = static_cast<std::int8_t>(code);
          codes_[other] = static_cast<std::int8_t>(code + static_cast<int>(bench_.rng().below(2)));
          one_channel();
        }
      }
    }
    drain();
  }

  /// A channel of one beat, or of two in one chunk, or in two.
  void one_channel() {
    const std::uint32_t kind = bench_.rng().below(3);
    if (kind != 0) {
      const auto codes = codes_;
      random_beat();
      if (bench_.rng().chance(0.5)) codes_.fill(codes[bench_.rng().below(16)]);
      cycle(true, kind == 1, false, true);
      codes_ = codes;
    }
    cycle(true, bench_.rng().chance(0.5), true, true);
    cycle(false, false, false, true);
  }

  /// 16 chunks of 65536 codes in all, and of 16 beats more, whose sums wrap around.
  void sums() {
    for (const int code : {-128, 127}) {
      for (const unsigned beats : {4096U, 4112U}) {
        codes_.fill(static_cast<std::int8_t>(code));
        for (unsigned i = 1; i <= beats; ++i) cycle(true, i % 256 == 0, i == beats, true);
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
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const RangeStats* const shown = expected_.shown();
    if (shown == nullptr) return;
    const auto channel = [] { return "the channel"; };
    bench_.expect_eq("maxima_o", wrap_signed(dut_->maxima_o, 12), shown->maxima, channel);
    bench_.expect_eq("minima_o", wrap_signed(dut_->minima_o, 12), shown->minima, channel);
    bench_.expect_eq("sum_o", wrap_signed(dut_->sum_o, 24), shown->sum, channel);
    bench_.expect(core_.result() == *shown, [] { return "the cycle model has other statistics"; });
  }

  void cycle(bool valid, bool chunk_last, bool last, bool ready) {
    dut_->valid_i = valid;
    dut_->chunk_last_i = chunk_last;
    dut_->last_i = last;
    dut_->ready_i = ready;
    for (unsigned lane = 0; lane < 16; ++lane) {
      set_bits(dut_->codes_i, lane * 8, 8, static_cast<std::uint8_t>(codes_[lane]));
    }
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->sum_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    refused_ += valid && !dut_->ready_o;
    if (valid && dut_->ready_o) take(chunk_last || last, last);
    core_.step(valid, codes_, chunk_last, last, ready);
    dut_.tick();
    outputs();
  }

  void take(bool chunk_last, bool last) {
    chunk_.insert(chunk_.end(), codes_.begin(), codes_.end());
    if (chunk_last) {
      add_chunk(channel_, chunk_);
      chunk_.clear();
    }
    if (last) {
      expected_.push_back(channel_);
      channel_ = {};
    }
  }

  using Core = systemc::RangeStatsCore<NG_TREE_CUTS>;
  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Core::Codes codes_{};
  std::uint32_t kind_ = 0;
  std::vector<std::int8_t> chunk_;  ///< codes of the chunk that has begun
  RangeStats channel_;              ///< of the chunks that ended
  Scoreboard<RangeStats> expected_{bench_, "channels"};
  std::uint64_t refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return RangeStatsBench(argc, argv).run(); }
