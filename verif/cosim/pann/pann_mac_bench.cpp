// SPDX-License-Identifier: Apache-2.0
// ng_pann_mac against the golden repeated addition: every result and its order, both handshakes, under bubbles and
// stalls of changing density, with resets; outputs of two elements through all operands and signs where the budget
// covers them, the largest sums; and the time that every element takes, cycle for cycle, against the cycle model. Build
// parameters: NG_X_WIDTH, NG_W_WIDTH, NG_ACC_WIDTH.
#include <deque>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/pann/pann.hpp"
#include "systemc/pann/pann_mac_core.hpp"

namespace {

using namespace narrowgauge::bench;
using narrowgauge::systemc::PannElement;

constexpr unsigned x_width = NG_X_WIDTH, w_width = NG_W_WIDTH, acc_width = NG_ACC_WIDTH;
constexpr std::uint32_t x_most = (1U << x_width) - 1, w_most = (1U << w_width) - 1;

class PannMacBench {
 public:
  PannMacBench(int argc, char** argv)
      : bench_(argc, argv, "pann_mac", 50'000), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    // The largest sums of either sign, until they wrap.
    for (const bool negative : {false, true})
      for (int i = 0, n = (2 << acc_width) / static_cast<int>(x_most * w_most); i <= n; ++i)
        queue_.push_back({.first = i == 0, .last = i == n, .x = x_most, .w = w_most, .negative = negative});
    drain(0, 0);

    constexpr unsigned width = x_width + w_width + 1;
    const std::uint64_t pairs = std::uint64_t{1} << 2 * width;
    for (std::uint64_t p = 0, step = bench_.sweep_step("two elements an output", pairs); p < pairs; p += step) {
      for (const bool second : {false, true}) {
        const auto code = static_cast<std::uint32_t>(p >> (second ? width : 0));
        queue_.push_back({.first = !second,
                          .last = second,
                          .x = code & x_most,
                          .w = code >> x_width & w_most,
                          .negative = (code >> (width - 1) & 1) != 0});
      }
      if (queue_.size() >= 100) drain(0, p % 3 == 0 ? 0.5 : 0);
    }
    drain(0, 0);

    while (elements_ < bench_.budget()) {
      const double bubble = bench_.rng().below(4) / 4.0, stall = bench_.rng().below(5) / 5.0;
      for (int outputs = 0; outputs < 20; ++outputs) random_output();
      drain(bubble, stall);
      if (bench_.rng().chance(0.1)) reset();
    }
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10, [] { return "hardly a result, or none ever waited"; });
    return bench_.finish();
  }

 private:
  void random_output() {
    const std::uint32_t length = 1 + bench_.rng().below(bench_.rng().chance(0.5) ? 3 : 20);
    const std::uint32_t positives = bench_.rng().below(length + 1);
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint32_t kind = bench_.rng().below(8);
      queue_.push_back({.first = i == 0,
                        .last = i + 1 == length,
                        .x = kind == 0 ? x_most : static_cast<std::uint32_t>(bench_.rng().bits(x_width)),
                        // Mostly small, as PANN's weights are.
                        .w = kind == 1 ? w_most : bench_.rng().below(std::min(4U, w_most + 1)),
                        // Sorted, and some with a positive weight behind a negative one, which counts as negative.
                        .negative = i >= positives && !bench_.rng().chance(0.05)});
    }
    if (bench_.rng().chance(0.05)) queue_.back().last = false;  // dropped by the next output's first
  }

  void reset() {
    dut_->valid_i = 0;
    dut_->ready_i = 0;
    dut_.reset_without_edge(bench_);
    core_.reset();
    queue_.clear();
    results_.reset();
    x_.clear();
    output_.clear();
    outputs();
    dut_.reset();
  }

  void drain(double bubble, double stall) {
    while (!queue_.empty() || !results_.empty()) cycle(bubble, stall);
    for (int i = 0; i < 4; ++i) cycle(bubble, 1);
  }

  void outputs() {
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, unsigned{core_.ready()}, [] { return "the cycle model"; });
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{core_.valid()}, [] { return "the cycle model"; });
    if (!dut_->valid_o) {
      bench_.expect_eq("result_o", get_signed(dut_->result_o, 0, acc_width), 0, [] { return "no result"; });
      return;
    }
    const bool due = !results_.empty();
    bench_.expect(due, [] { return "a result without an output"; });
    if (due)
      bench_.expect_eq("result_o", get_signed(dut_->result_o, 0, acc_width), results_.front(),
                       [&] { return std::to_string(results_.size()) + " outputs on their way"; });
  }

  void cycle(double bubble, double stall) {
    // An element that was offered stays offered.
    offered_ = !queue_.empty() && (offered_ || !bench_.rng().chance(bubble));
    const PannElement element = offered_ ? queue_.front()
                                         : PannElement{.first = bench_.rng().chance(0.5),
                                                       .last = bench_.rng().chance(0.5),
                                                       .x = static_cast<std::uint32_t>(bench_.rng().bits(x_width)),
                                                       .w = static_cast<std::uint32_t>(bench_.rng().bits(w_width)),
                                                       .negative = bench_.rng().chance(0.5)};
    dut_->valid_i = offered_;
    dut_->first_i = element.first;
    dut_->last_i = element.last;
    dut_->x_i = element.x;
    dut_->w_i = element.w;
    dut_->negative_i = element.negative;
    dut_->ready_i = !bench_.rng().chance(stall);
    dut_.eval();
    bench_.vector();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->result_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    const bool taken = offered_ && dut_->ready_o, given = dut_->valid_o && dut_->ready_i;
    core_.step(offered_ ? &element : nullptr, dut_->ready_i);
    dut_.tick();
    if (given && !results_.empty()) results_.pop_front();
    if (taken) take(element);
    outputs();
  }

  void take(const PannElement& element) {
    if (element.first) {
      x_.clear();
      w_.clear();
      minus_ = false;
    }
    minus_ |= element.negative && element.w > 0;
    x_.push_back(static_cast<std::int32_t>(element.x));
    w_.push_back(static_cast<std::int32_t>(element.w) * (minus_ ? -1 : 1));
    if (element.last) {
      const auto sum = static_cast<std::uint64_t>(narrowgauge::pann::repeated_addition_dot(x_, w_).value());
      results_.push_back(static_cast<std::int64_t>(sum << (64 - acc_width)) >> (64 - acc_width));
    }
    queue_.pop_front();
    offered_ = false;
    ++elements_;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  narrowgauge::systemc::PannMacCore<acc_width> core_;
  std::deque<PannElement> queue_;
  Scoreboard<std::int64_t> results_{bench_, "results"};
  std::vector<std::int32_t> x_, w_;
  bool minus_ = false, offered_ = false;
  std::uint64_t elements_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return PannMacBench(argc, argv).run(); }
