// SPDX-License-Identifier: Apache-2.0
// ng_dot_xnor against its golden functions, row by row, and cycle for cycle against the cycle model: each place alone
// and missing alone, every bit of a threshold met and missed by one in both directions, rows that reach 2^16, rows of
// one beat at full speed to the cycle; then random rows under bubbles, stalls and resets. Build parameters: NG_N,
// NG_AND.
#include <algorithm>
#include <array>
#include <string>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/binary/dot_xnor_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned n = NG_N;
constexpr BitProduct product = NG_AND ? BitProduct::and_of_planes : BitProduct::xnor_of_signs;
using Core = systemc::DotXnorCore<NG_N, bool(NG_AND)>;
using Words = Core::Words;

class DotXnorBench {
 public:
  DotXnorBench(int argc, char** argv)
      : bench_(argc, argv, "dot_xnor, " + std::to_string(n) + " places"), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    places();
    thresholds();
    long_row();
    waiting();
    double push = 1, pop = 1, end = 0.2;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.01)) {  // a new density
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = (1 + bench_.rng().below(4)) / 4.0;
        end = bench_.rng().chance(0.4) ? 1 : 0.1;
        kind_ = bench_.rng().below(4);
      }
      if (bench_.rng().chance(0.001)) reset();
      random_beat();
      cycle(bench_.rng().chance(push), !open_ || bench_.rng().chance(0.03), bench_.rng().chance(end),
            bench_.rng().chance(pop));
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a row left, or none waited"; });
    bench_.expect(ones_ > 0 && zeros_ > 0, [] { return "all bits were equal"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    open_ = false;
    row_ = 0;
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (int i = 0; i < 10; ++i) cycle(false, false, false, true);
    bench_.expect(expected_.empty(), [] { return "a row that ended did not leave"; });
  }

  /// Rows of one beat, one after the other: a result comes four edges after its beat, and no beat waits.
  void full_speed() {
    for (unsigned i = 0; i < 40; ++i) {
      const auto when = [&] { return "cycle " + std::to_string(i) + " at full speed"; };
      bench_.expect_eq("ready_o", bool(dut_->ready_o), true, when);
      bench_.expect_eq("valid_o", bool(dut_->valid_o), i >= 4, when);
      random_beat();
      cycle(true, true, true, true);
    }
    drain();
  }

  /// Products that are 1 at the places of `ones` and 0 elsewhere, w being random.
  void products(const Words& ones) {
    for (std::size_t i = 0; i < w_.size(); ++i) {
      w_[i] = NG_AND ? ~std::uint64_t{0} : bench_.rng().bits(64);
      x_[i] = NG_AND ? ones[i] : ~(w_[i] ^ ones[i]);
    }
  }

  void places() {
    for (unsigned place = 0; place < n; ++place) {
      Words one{};
      one[place / 64] = std::uint64_t{1} << place % 64;
      for (const bool missing : {false, true}) {
        Words ones = one;
        if (missing) std::ranges::transform(ones, ones.begin(), [](std::uint64_t word) { return ~word; });
        mask_.fill(~std::uint64_t{0});
        products(ones);
        cycle(true, true, true, true);
        mask_ = ones;
        ones.fill(~std::uint64_t{0});
        products(ones);
        cycle(true, true, true, true);
      }
    }
    drain();
  }

  /// A beat with `count` products that are 1, from the lowest place on.
  void beat_of(std::uint32_t count, bool first, bool last) {
    Words ones{};
    for (std::size_t i = 0; i < ones.size(); ++i) {
      const std::uint32_t here =
          std::min(64U, count - std::min<std::uint32_t>(count, static_cast<std::uint32_t>(64 * i)));
      if (here > 0) ones[i] = ~std::uint64_t{0} >> (64 - here);
    }
    mask_.fill(~std::uint64_t{0});
    products(ones);
    do cycle(true, first, last, pop_);
    while (!was_ready_);
  }

  /// A row whose sum is `sum`, with a threshold beside it.
  void row_of(std::uint32_t sum, std::uint16_t threshold, bool at_most) {
    bool first = true;
    for (; sum > n; sum -= n) beat_of(n, first, false), first = false;
    chosen_ = true;
    threshold_ = threshold, at_most_ = at_most;
    beat_of(sum, first, true);
    chosen_ = false;
  }

  void thresholds() {
    for (unsigned bit = 0; bit < 16; ++bit) {
      const std::uint32_t power = 1U << bit;
      for (const bool at_most : {false, true}) {
        for (const std::uint32_t sum : {power - 1, power, power + 1})
          row_of(sum, static_cast<std::uint16_t>(power), at_most);
        row_of(bench_.rng().below(n), static_cast<std::uint16_t>(power), at_most);
        row_of(power, static_cast<std::uint16_t>(~power), at_most);
      }
    }
    for (const bool at_most : {false, true}) {
      for (const std::uint16_t threshold : {std::uint16_t{0}, std::uint16_t{0xFFFF}}) {
        row_of(0, threshold, at_most);
        row_of(0xFFFF, threshold, at_most);
      }
    }
    drain();
  }

  /// More than 2^16 products that are 1: the sum wraps around.
  void long_row() {
    row_of((1U << 16) + n + 5, 5, true);
    drain();
  }

  /// Two results of which each has one bit of a sum, and wait in both words of the queue.
  void waiting() {
    for (unsigned bit = 0; bit < 16; ++bit) {
      pop_ = false;
      row_of(1U << bit, 0, false);
      row_of(1U << bit, 0, true);
      for (int i = 0; i < 4; ++i) cycle(false, false, false, false);
      pop_ = true;
      drain();
    }
  }

  void random_beat() {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] = bench_.rng().bits(64);
      const std::uint64_t any = bench_.rng().bits(64), few = any & bench_.rng().bits(64) & bench_.rng().bits(64);
      w_[i] = kind_ == 0 ? any : kind_ == 1 ? x_[i] ^ few : kind_ == 2 ? ~x_[i] ^ few : x_[i];
      mask_[i] = bench_.rng().chance(0.7) ? ~std::uint64_t{0} : bench_.rng().bits(64);
    }
  }

  struct Row {
    std::uint16_t sum = 0;
    bool bit = false;
  };

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const Row* const shown = expected_.shown();
    if (shown == nullptr) return;
    const auto row = [] { return "of the row"; };
    bench_.expect_eq("sum_o", std::uint32_t{dut_->sum_o}, std::uint32_t{shown->sum}, row);
    bench_.expect_eq("bit_o", bool(dut_->bit_o), shown->bit, row);
  }

  void cycle(bool valid, bool first, bool last, bool ready) {
    const auto beat = static_cast<std::uint16_t>(popcount_dot(x_, w_, mask_, product));
    const auto sum = static_cast<std::uint16_t>((first ? 0 : row_) + beat);
    if (!chosen_) {  // of a beat that ends no row it has no meaning
      at_most_ = bench_.rng().bits(1) != 0;
      threshold_ = static_cast<std::uint16_t>(bench_.rng().chance(0.7) ? sum + bench_.rng().below(3) - 1U
                                                                       : bench_.rng().bits(16));
    }
    dut_->valid_i = valid;
    dut_->first_i = first;
    dut_->last_i = last;
    dut_->ready_i = ready;
    dut_->threshold_i = threshold_;
    dut_->at_most_i = at_most_;
    for (unsigned i = 0; i < n / 64; ++i) {
      set_bits(dut_->x_i, 64 * i, 64, x_[i]);
      set_bits(dut_->w_i, 64 * i, 64, w_[i]);
      set_bits(dut_->mask_i, 64 * i, 64, mask_[i]);
    }
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->sum_o, dut_->bit_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    was_ready_ = dut_->ready_o;
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    if (valid && was_ready_) {
      row_ = sum;
      open_ = !last;
      if (last) {
        const bool bit = PopcountThreshold{.value = threshold_, .at_most = at_most_}(sum);
        expected_.push_back({.sum = sum, .bit = bit});
        ++(bit ? ones_ : zeros_);
      }
    }
    core_.step(valid, x_, w_, mask_, first, last, threshold_, at_most_, ready);
    dut_.tick();
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Words x_{}, w_{}, mask_{};
  std::uint16_t row_ = 0;  ///< sum of the beats taken
  std::uint16_t threshold_ = 0;
  bool at_most_ = false, chosen_ = false;  ///< chosen_: the threshold is that of a directed row
  Scoreboard<Row> expected_{bench_, "rows"};
  bool open_ = false, was_ready_ = false;
  bool pop_ = true;  ///< results of directed rows are taken
  unsigned kind_ = 0;
  std::uint64_t ones_ = 0, zeros_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return DotXnorBench(argc, argv).run(); }
