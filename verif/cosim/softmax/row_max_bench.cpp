// SPDX-License-Identifier: Apache-2.0
// ng_row_max against its golden function, row by row, and cycle for cycle against the cycle model: each bit of each
// lane alone, all pairs of lanes with keys that are equal or one apart, rows at full speed to the cycle; then random
// rows with ties and few attended keys under bubbles, stalls and resets. Build parameters: NG_WIDTH, NG_TREE_CUTS.
#include <bit>
#include <optional>
#include <string>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/softmax/row_max_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned width = NG_WIDTH;
constexpr unsigned cuts = std::popcount(unsigned{NG_TREE_CUTS});
constexpr std::uint32_t largest_key = ~0U >> (32 - width);

class RowMaxBench {
 public:
  using Core = systemc::RowMaxCore<NG_TREE_CUTS>;

  RowMaxBench(int argc, char** argv) : bench_(argc, argv, "row_max"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    lanes();
    double push = 1, pop = 1, end = 0.2;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.01)) {  // a new density
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = (1 + bench_.rng().below(4)) / 4.0;
        end = (1 + bench_.rng().below(4)) / 4.0;
        kind_ = bench_.rng().below(4);
      }
      if (bench_.rng().chance(0.001)) reset();
      random_beat();
      const bool first = !open_ || bench_.rng().chance(0.05);
      cycle(bench_.rng().chance(push), first, bench_.rng().chance(end), bench_.rng().chance(pop));
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a row left, or none waited"; });
    bench_.expect(empty_ > 0, [] { return "every row had an attended key"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    row_.reset();
    open_ = false;
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (int i = 0; i < 14; ++i) cycle(false, false, false, true);
    bench_.expect(expected_.empty(), [] { return "a row that ended did not leave"; });
  }

  /// Rows of three beats, one after the other: the result comes three edges and one for each cut after the last beat,
  /// and no beat waits.
  void full_speed() {
    for (unsigned i = 0; i < 30; ++i) {
      const auto when = [&] { return "cycle " + std::to_string(i) + " at full speed"; };
      bench_.expect_eq("ready_o", bool(dut_->ready_o), true, when);
      bench_.expect_eq("valid_o", bool(dut_->valid_o), i >= 5 + cuts && (i - cuts) % 3 == 2, when);
      random_beat();
      cycle(true, i % 3 == 0, i % 3 == 2, true);
    }
    drain();
  }

  void lanes() {
    for (unsigned lane = 0; lane < 16; ++lane) {
      for (unsigned bit = 0; bit < width; ++bit) {
        for (const std::uint32_t invert : {0U, largest_key}) {
          keys_.fill(invert);
          keys_[lane] = (1U << bit) ^ invert;
          mask_ = 0xFFFF;
          one_row();
          mask_ = 1U << lane;
          one_row();
        }
      }
      for (unsigned other = 0; other < 16; ++other) {
        for (const std::uint32_t less : {0U, 1U}) {
          keys_.fill(largest_key);
          keys_[lane] = 1 + static_cast<std::uint32_t>(bench_.rng().bits(width - 1));
          keys_[other] = keys_[lane] - (lane == other ? 0 : less);
          mask_ = 1U << lane | 1U << other;
          one_row();
        }
      }
    }
    drain();
  }

  /// A row of one beat, or of two whose first has a lower or the same maximum.
  void one_row() {
    if (bench_.rng().chance(0.5)) {
      cycle(true, true, true, true);
    } else {
      const auto keys = keys_;
      for (std::uint32_t& key : keys_) key -= key != 0 && bench_.rng().chance(0.5);
      cycle(true, true, false, true);
      keys_ = keys;
      cycle(true, false, true, true);
    }
    cycle(false, false, false, true);
  }

  void random_beat() {
    const auto common = static_cast<std::uint32_t>(bench_.rng().bits(width));
    for (std::uint32_t& key : keys_) {
      const auto any = static_cast<std::uint32_t>(bench_.rng().bits(width));
      key = kind_ == 0 ? any : kind_ == 1 ? common ^ (any & 1) : kind_ == 2 ? any & 3 : common;
    }
    mask_ = static_cast<std::uint32_t>(bench_.rng().bits(16));
    for (std::uint32_t n = bench_.rng().below(5); n > 0; --n)
      mask_ &= static_cast<std::uint32_t>(bench_.rng().bits(16));
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const std::optional<std::uint32_t>* const shown = expected_.shown();
    if (shown == nullptr) return;
    const auto row = [] { return "the row"; };
    bench_.expect_eq("any_o", bool(dut_->any_o), shown->has_value(), row);
    if (*shown) bench_.expect_eq("max_o", std::uint32_t{dut_->max_o}, **shown, row);
  }

  void cycle(bool valid, bool first, bool last, bool ready) {
    dut_->valid_i = valid;
    dut_->first_i = first;
    dut_->last_i = last;
    dut_->ready_i = ready;
    dut_->mask_i = static_cast<std::uint16_t>(mask_);
    for (unsigned lane = 0; lane < 16; ++lane) set_bits(dut_->keys_i, lane * width, width, keys_[lane]);
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->any_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    if (valid && dut_->ready_o) {
      if (first) row_.reset();
      if (const auto largest = exaq_row_max(keys_, mask_)) row_ = std::max(row_.value_or(0), *largest);
      open_ = !last;
      if (last) expected_.push_back(row_);
      empty_ += last && !row_;
    }
    core_.step(valid, keys_, mask_, first, last, ready);
    dut_.tick();
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Core::Keys keys_{};
  std::uint32_t mask_ = 0, kind_ = 0;
  std::optional<std::uint32_t> row_;  ///< maximum of the beats taken
  Scoreboard<std::optional<std::uint32_t>> expected_{bench_, "rows"};
  bool open_ = false;
  std::uint64_t empty_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return RowMaxBench(argc, argv).run(); }
