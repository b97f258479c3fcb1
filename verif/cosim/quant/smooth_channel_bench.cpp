// SPDX-License-Identifier: Apache-2.0
// ng_smooth_channel against its golden model and, cycle for cycle, its cycle model: blocks of rows of equal and of
// different lengths, measured, divided and multiplied in any order, under bubbles and stalls of changing density, with
// rows that are too long and with resets; then undisturbed rows, to the cycle. Build parameters: NG_LANES,
// NG_MAX_BEATS.
#include <array>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/smooth_channel.hpp"
#include "systemc/quant/smooth_channel_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;
using systemc::SmoothOp;

constexpr unsigned lanes = NG_LANES, max_beats = NG_MAX_BEATS;
using Core = systemc::SmoothChannelCore<lanes, max_beats>;
struct Beat {
  Core::Beat data;
  std::array<std::uint8_t, lanes> scales;
  bool last;
};

class SmoothChannelBench {
 public:
  SmoothChannelBench(int argc, char** argv)
      : bench_(argc, argv,
               "smooth_channel, " + std::to_string(lanes) + " lanes, " + std::to_string(max_beats) + " beats"),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    for (const unsigned beats : {1U, 2U, max_beats}) full_speed(beats);
    reset();
    double push = 1, pop = 0;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (i > 4 * max_beats && bench_.rng().chance(0.1 / max_beats)) {  // a new density: 0 and 1 included
        push = bench_.rng().below(5) / 4.0;
        pop = bench_.rng().below(5) / 4.0;
      }
      if (bench_.rng().chance(0.0005)) reset();
      if (at_ == 0 && !offered_) row();
      const bool last = at_ + 1 >= length_;
      cycle(bench_.rng().chance(push), op_, last, bench_.rng().chance(pop));
    }
    for (int i = 0; i < 10; ++i) cycle(false, op_, false, true);  // what is inside leaves
    bench_.expect(output_.beats() > 0 && output_.stalls() > 0, [] { return "no beat left, or none ever waited"; });
    bench_.expect(cut_ > 0 && whole_ > 0, [] { return "no row was too long, or none had the largest length"; });
    bench_.expect(longer_ > 0 && shorter_ > 0, [] { return "all rows of each block were of one length"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = dut_->last_i = false;
    dut_->op_i = 0;
    for (auto& channel : measured_) channel.clear();
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    core_.reset();
    at_ = 0;
    offered_ = false;
    dut_.reset_without_edge(bench_);
    outputs();
    dut_.reset();
  }

  /// A row to come: what is done with it, and its length.
  void row() {
    const unsigned choice = bench_.rng().below(16);
    op_ = choice == 0   ? SmoothOp::begin
          : choice < 8  ? SmoothOp::measure
          : choice < 13 ? SmoothOp::divide
                        : SmoothOp::multiply;
    if (op_ == SmoothOp::begin || bench_.rng().chance(0.1)) {
      const unsigned some[] = {1, 2, max_beats, 1 + bench_.rng().below(max_beats)};
      usual_ = some[bench_.rng().below(4)];
    }
    const unsigned choices = bench_.rng().below(10);
    length_ = choices == 0   ? 1 + bench_.rng().below(max_beats)
              : choices == 1 ? max_beats + 1 + bench_.rng().below(2)
                             : usual_;
    longer_ += op_ == SmoothOp::divide && length_ > usual_;
    shorter_ += op_ == SmoothOp::divide && length_ < usual_;
    const unsigned end = bench_.rng().below(16);
    const unsigned centres[] = {bench_.rng().below(255), bench_.rng().below(255), end, 254 - end};
    if (op_ == SmoothOp::begin) centre_ = centres[bench_.rng().below(4)];
    plain_ = bench_.rng().chance(0.8);
  }

  /// Rows of one length come and leave as fast as the unit lets them: it never refuses a beat, and a divided one is
  /// offered two cycles after it was accepted.
  void full_speed(unsigned beats) {
    reset();
    std::uint64_t history = 0;  // whether a divided row's beat came, the newest in bit 0
    for (unsigned i = 0; i < 12 * beats; ++i) {
      const unsigned row = i / beats;
      op_ = row % 6 == 0 ? SmoothOp::begin : row % 6 < 3 ? SmoothOp::measure : SmoothOp::divide;
      const bool offered = history >> 1 & 1;
      cycle(true, op_, i % beats == beats - 1, true, [&] {
        const auto when = [&] {
          return "cycle " + std::to_string(i) + " of undisturbed rows of " + std::to_string(beats);
        };
        bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, 1U, when);
        bench_.expect_eq("valid_o", bool(dut_->valid_o), offered, when);
      });
      history = history << 1 | (op_ == SmoothOp::divide);
    }
  }

  std::uint16_t with_exponent(unsigned exponent) {
    return static_cast<std::uint16_t>(bench_.rng().bits(1) << 15 | exponent << 7 | bench_.rng().bits(7));
  }

  /// Any code; or one near an exponent of the block, so that scales are not always the largest there is; or one whose
  /// exponent has one bit alone, set or clear; or one that is at an end of the range behind the sum.
  std::uint16_t number(unsigned lane) {
    const auto clamped = [](int exponent) { return static_cast<unsigned>(std::clamp(exponent, 0, 254)); };
    switch (bench_.rng().below(11)) {
      case 0:
        return static_cast<std::uint16_t>(bench_.rng().bits(16));
      case 1:
        return static_cast<std::uint16_t>(bench_.rng().bits(1) << 15 | bench_.rng().below(3));  // 0, subnormals
      case 2:
        return static_cast<std::uint16_t>(bench_.rng().bits(1) << 15 | (0x7F7F + bench_.rng().below(3)));
      case 3:
        return with_exponent(1U << bench_.rng().below(8));
      case 4:
        return with_exponent(255 - (1U << bench_.rng().below(8)));
      case 5:
      case 6: {  // -1 to 2, or 253 to 256, or a power of two, behind the sum
        const std::size_t channel = at_ % max_beats * lanes + lane;
        const int scale = measured_[channel].empty() ? 127 : smooth_scale(measured_[channel]);
        const int power = op_ == SmoothOp::multiply ? scale - 127 : 127 - scale;
        const int ends[] = {static_cast<int>(bench_.rng().below(4)) - 1, 253 + static_cast<int>(bench_.rng().below(4)),
                            1 << bench_.rng().below(8)};
        return with_exponent(clamped(ends[bench_.rng().below(3)] - power));
      }
      case 7:
        return with_exponent(255);
      default:
        return with_exponent(centre_ - std::min(bench_.rng().below(140), centre_));
    }
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    bench_.expect_eq("too_long_o", bool(dut_->too_long_o), core_.too_long(), model);
    if (!dut_->valid_o) return;
    const Beat* const shown = expected_.shown();
    if (shown == nullptr) return;
    const Beat& beat = *shown;
    for (unsigned i = 0; i < lanes; ++i) {
      const auto lane = [&] { return "lane " + std::to_string(i) + ", scale " + std::to_string(beat.scales[i]); };
      bench_.expect_eq("data_o", get_bits(dut_->data_o, i * 16, 16), std::uint64_t{beat.data[i]}, lane);
      bench_.expect_eq("scale_o", get_bits(dut_->scale_o, i * 8, 8), std::uint64_t{beat.scales[i]}, lane);
    }
    bench_.expect_eq("last_o", bool(dut_->last_o), beat.last, [] { return "of a beat"; });
    bench_.expect(core_.beat() == beat.data && core_.scales() == beat.scales && core_.last() == beat.last,
                  [] { return "the cycle model's beat is not the golden one"; });
  }

  void cycle(bool valid, SmoothOp op, bool last, bool ready) {
    cycle(valid, op, last, ready, [] {});
  }
  template <class Check>
  void cycle(bool valid, SmoothOp op, bool last, bool ready, const Check& check) {
    // A beat that waits stays as it is.
    if (!offered_) {
      word_.op = at_ > 0 ? static_cast<SmoothOp>(bench_.rng().below(4)) : op;
      word_.last = last;
      for (unsigned i = 0; i < lanes; ++i) {
        word_.data[i] = number(i);
        if (plain_ && (word_.data[i] >> 7 & 0xFF) > centre_ && op != SmoothOp::divide) word_.data[i] &= 0x807F;
      }
    }
    offered_ |= valid;
    dut_->valid_i = offered_;
    dut_->ready_i = ready;
    dut_->op_i = static_cast<std::uint8_t>(word_.op);
    dut_->last_i = word_.last;
    for (unsigned i = 0; i < lanes; ++i) set_bits(dut_->data_i, i * 16, 16, word_.data[i]);
    dut_.eval();
    bench_.vector();
    check();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->data_o, dut_->scale_o, dut_->last_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    const bool taken = offered_ && dut_->ready_o;
    core_.step(offered_ ? &word_ : nullptr, ready);
    if (taken) take();
    dut_.tick();
    outputs();
  }

  /// The offered beat is taken.
  void take() {
    offered_ = false;
    if (at_ == 0) taken_ = word_.op;
    if (taken_ == SmoothOp::begin && at_ == 0) {
      for (auto& channel : measured_) channel.clear();
    }
    Beat beat{};
    for (unsigned i = 0; i < lanes; ++i) {
      std::vector<std::uint16_t>& channel = measured_[at_ * lanes + i];
      beat.scales[i] = smooth_channel_scales(channel, 1)[0];
      if (taken_ == SmoothOp::begin || taken_ == SmoothOp::measure) {
        channel.push_back(word_.data[i]);
      } else {
        beat.data[i] = taken_ == SmoothOp::divide ? smooth_divide(word_.data[i], beat.scales[i])
                                                  : smooth_multiply(word_.data[i], beat.scales[i]);
      }
    }
    beat.last = word_.last || at_ + 1 == max_beats;
    cut_ += beat.last && !word_.last;
    whole_ += word_.last && at_ + 1 == max_beats;
    if (taken_ == SmoothOp::divide || taken_ == SmoothOp::multiply) expected_.push_back(beat);
    at_ = beat.last ? 0 : at_ + 1;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Core::Word word_{};  // that is offered
  bool offered_ = false;
  Scoreboard<Beat> expected_{bench_, "beats"};
  std::array<std::vector<std::uint16_t>, lanes * max_beats> measured_;  // numbers of each channel of the block
  SmoothOp op_ = SmoothOp::begin, taken_ = SmoothOp::begin;  // of the row that comes, of its beats that were taken
  unsigned at_ = 0, length_ = 1, usual_ = 1;  // the beat of the row that comes, its length, that of most rows
  unsigned centre_ = 0;  // no measured or multiplied number of a plain row has an exponent above it
  bool plain_ = false;
  std::uint64_t cut_ = 0, whole_ = 0, longer_ = 0, shorter_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return SmoothChannelBench(argc, argv).run(); }
