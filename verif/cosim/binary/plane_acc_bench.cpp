// SPDX-License-Identifier: Apache-2.0
// ng_plane_acc against its golden function, and cycle for cycle against the cycle model: every bit of every number in
// every plane alone, the largest numbers of both signs until sums wrap, results at full speed to the cycle; then random
// numbers and planes under bubbles, stalls and resets. Build parameters: NG_ROWS, NG_COLS, NG_PLANES, NG_SUM_BITS.
#include <algorithm>
#include <string>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/binary/plane_acc_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned rows = NG_ROWS, cols = NG_COLS, planes = NG_PLANES, sum_bits = NG_SUM_BITS;
using Core = systemc::PlaneAccCore<NG_ROWS, NG_COLS, NG_PLANES, NG_SUM_BITS>;
using Sums = std::vector<std::int64_t>;

class PlaneAccBench {
 public:
  PlaneAccBench(int argc, char** argv)
      : bench_(argc, argv, "plane_acc, " + std::to_string(rows) + " x " + std::to_string(cols)),
        dut_(bench_),
        output_(bench_, "output") {}

  int run() {
    reset();
    full_speed();
    bits();
    extremes();
    double push = 1, pop = 1, end = 0.2;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.01)) {  // a new density
        push = (1 + bench_.rng().below(4)) / 4.0;
        pop = (1 + bench_.rng().below(4)) / 4.0;
        end = bench_.rng().chance(0.3) ? 1 : 0.2;
        kind_ = bench_.rng().below(3);
      }
      if (bench_.rng().chance(0.001)) reset();
      random_beat();
      cycle(bench_.rng().chance(push), fresh_ || bench_.rng().chance(0.1), bench_.rng().chance(end),
            bench_.rng().chance(pop));
    }
    drain();
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a sum left, or none waited"; });
    bench_.expect(restarts_ > 0 && implied_ > 0, [] { return "no sums were given up, or all began with first_i"; });
    return bench_.finish();
  }

 private:
  void reset() {
    dut_->valid_i = dut_->ready_i = 0;
    expected_.abandon();  // any cycle may be the last before a reset
    output_.clear();
    fresh_ = true;
    open_ = false;
    dut_.reset_without_edge(bench_);
    core_.reset();
    outputs();
    dut_.reset();
  }

  void drain() {
    for (int i = 0; i < 10; ++i) cycle(false, false, false, true);
    bench_.expect(expected_.empty(), [] { return "sums that were complete did not leave"; });
  }

  /// Sums of three beats, one after the other: they come three edges after the last beat, and a cycle is lost for each.
  void full_speed() {
    unsigned beats = 0;
    for (unsigned i = 0; i < 41; ++i) {
      const auto when = [&] { return "cycle " + std::to_string(i) + " at full speed"; };
      bench_.expect_eq("ready_o", bool(dut_->ready_o), i < 5 || i % 4 != 1, when);
      bench_.expect_eq("valid_o", bool(dut_->valid_o), i >= 5 && i % 4 == 1, when);
      random_beat();
      cycle(true, beats % 3 == 0, beats % 3 == 2, true);
      beats += was_ready_;
    }
    drain();
  }

  void beat(bool first, bool last) {
    do cycle(true, first, last, true);
    while (!was_ready_);
  }

  void bits() {
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned plane = 0; plane < planes; ++plane) {
        for (unsigned bit = 0; bit < 8; ++bit) {
          for (const bool alone : {true, false}) {
            v_.fill(0);
            for (unsigned col = 0; col < cols; ++col) {
              v_[row * cols + col] = static_cast<std::int8_t>(1U << (bit + col) % 8);
            }
            std::ranges::fill(selected_, std::uint8_t{!alone});
            selected_[plane * rows + row] = alone;
            beat(true, true);
          }
        }
      }
    }
    drain();
  }

  /// Both ends of the numbers, alternating ones too, until sums are beyond the widest.
  void extremes() {
    for (const int kind : {0, 1, 2}) {
      for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = kind == 0 || (kind == 2 && i / cols % 2) ? -128 : 127;
      std::ranges::fill(selected_, std::uint8_t{1});
      const std::uint64_t beats = sum_bits > 20 || kind == 2 ? 40 : (std::uint64_t{1} << (sum_bits - 8)) / rows + 3;
      for (std::uint64_t i = 0; i < beats; ++i) beat(i == 0, i + 1 == beats);
      drain();
    }
  }

  void random_beat() {
    for (std::int8_t& value : v_) {
      value = static_cast<std::int8_t>(bench_.rng().bits(8));
      if (kind_ == 1) value = value < 0 ? -128 : 127;
    }
    for (std::uint8_t& bit : selected_) bit = bench_.rng().bits(1) != 0;
    if (kind_ != 2) return;
    for (unsigned row = 0; row < rows; ++row) {  // nested, as those of codes are
      const std::uint32_t code = bench_.rng().below(planes + 1);
      for (unsigned plane = 0; plane < planes; ++plane) selected_[plane * rows + row] = plane < code;
    }
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", bool(dut_->ready_o), core_.ready(), model);
    bench_.expect_eq("valid_o", bool(dut_->valid_o), core_.valid(), model);
    if (!dut_->valid_o) return;
    const Sums* const shown = expected_.shown();
    if (shown == nullptr) return;
    for (unsigned i = 0; i < planes * cols; ++i) {
      bench_.expect_eq("sums_o", get_bits(dut_->sums_o, sum_bits * i, sum_bits),
                       static_cast<std::uint64_t>((*shown)[i]) & (~std::uint64_t{0} >> (64 - sum_bits)),
                       [&] { return "plane " + std::to_string(i / cols) + ", column " + std::to_string(i % cols); });
    }
  }

  void cycle(bool valid, bool first, bool last, bool ready) {
    dut_->valid_i = valid;
    dut_->first_i = first;
    dut_->last_i = last;
    dut_->ready_i = ready;
    for (unsigned i = 0; i < planes * rows; ++i) set_bits(dut_->planes_i, i, 1, selected_[i]);
    for (unsigned i = 0; i < rows * cols; ++i) set_bits(dut_->v_i, 8 * i, 8, static_cast<std::uint8_t>(v_[i]));
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, get_bits(dut_->sums_o, 0, std::min(64U, sum_bits * planes * cols)));
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    was_ready_ = dut_->ready_o;
    if (dut_->valid_o && ready && !expected_.empty()) expected_.pop_front();
    if (valid && was_ready_) take(first, last);
    core_.step(valid, selected_, v_, first, last, ready);
    dut_.tick();
    outputs();
  }

  void take(bool first, bool last) {
    const Sums beat = plane_sums(selected_, v_, cols);
    restarts_ += first && open_;
    implied_ += !first && !open_;
    if (first || !open_) sums_.assign(beat.size(), 0);
    for (std::size_t i = 0; i < beat.size(); ++i) sums_[i] += beat[i];
    open_ = !last;
    fresh_ = false;
    if (last) expected_.push_back(sums_);
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  Core core_;
  Core::Matrix v_{};
  Core::Planes selected_{};
  Sums sums_;  ///< of the beats taken
  Scoreboard<Sums> expected_{bench_, "sums"};
  bool open_ = false, was_ready_ = false;
  bool fresh_ = true;  ///< after a reset sums begin with first_i
  unsigned kind_ = 0;
  std::uint64_t restarts_ = 0, implied_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return PlaneAccBench(argc, argv).run(); }
