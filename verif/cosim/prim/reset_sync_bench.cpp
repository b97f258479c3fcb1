// SPDX-License-Identifier: Apache-2.0
// ng_reset_sync against a count of rising edges: the reset changes at random between any two edges of the clock, also
// both ways between two of them. Build parameter: NG_STAGES.
#include "../bench.hpp"
#include "Vdut.h"

namespace {

using namespace narrowgauge::bench;

constexpr unsigned stages = NG_STAGES;

class ResetSyncBench {
 public:
  ResetSyncBench(int argc, char** argv)
      : bench_(argc, argv, "reset_sync of " + std::to_string(stages) + " stages"), dut_(bench_) {}

  int run() {
    dut_->clk_i = 0;
    dut_->rst_ni = 1;
    dut_.eval();
    set_reset(true);  // a falling edge, from whatever the registers have
    set_reset(false);
    double change = 0.5;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.02)) change = bench_.rng().chance(0.5) ? 0.5 / stages : 0.5;
      maybe_change(change);
      dut_->clk_i = 1;
      dut_.eval();
      if (dut_->rst_ni && edges_ < stages) released_ += ++edges_ == stages;
      compare("after a rising edge");
      maybe_change(change);
      dut_->clk_i = 0;
      dut_.eval();
      compare("after a falling edge");
      bench_.vector();
    }
    if (bench_.budget() >= 2000) {
      bench_.expect(released_ >= 20 && asserted_ >= 20 && pulses_ >= 20, [&] {
        return "stimulus: " + std::to_string(released_) + " releases, " + std::to_string(asserted_) +
               " resets after one, " + std::to_string(pulses_) + " pulses between two edges; expected 20 of each";
      });
    }
    return bench_.finish();
  }

 private:
  void maybe_change(double chance) {
    if (!bench_.rng().chance(chance)) return;
    const bool was = dut_->rst_ni;
    set_reset(was);
    if (!bench_.rng().chance(0.25)) return;
    set_reset(!was);
    ++pulses_;
  }

  void set_reset(bool on) {
    asserted_ += on && edges_ == stages;
    dut_->rst_ni = !on;
    dut_.eval();
    if (on) edges_ = 0;
    compare(on ? "after a falling edge of rst_ni" : "after a rising edge of rst_ni");
  }

  void compare(const char* when) {
    bench_.expect_eq("rst_no", unsigned{dut_->rst_no}, edges_ == stages ? 1U : 0U, [&] {
      return std::string(when) + ", " + std::to_string(edges_) + " edges after the reset, clk_i " +
             std::to_string(dut_->clk_i);
    });
  }

  Bench bench_;
  Dut<Vdut> dut_;
  unsigned edges_ = 0;  // rising ones since rst_ni rose, up to stages
  std::uint64_t released_ = 0, asserted_ = 0, pulses_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return ResetSyncBench(argc, argv).run(); }
