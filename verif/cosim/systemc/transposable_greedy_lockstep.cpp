// SPDX-License-Identifier: Apache-2.0
// ng_transposable_greedy and its SystemC module in lock-step. Build parameters: NG_SIDE, NG_KEEP, NG_WIDTH.
#include "Vdut.h"
#include "lockstep.hpp"
#include "systemc/sparse/transposable_greedy.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int side = NG_SIDE, keep = NG_KEEP, width = NG_WIDTH;
constexpr const char* faults[] = {"a mask comes one cycle late", "an element that stays is missing",
                                  "a row is taken while a mask waits", "the first row is that of the block before"};

struct Core : narrowgauge::systemc::TransposableGreedyCore<NG_SIDE, NG_KEEP> {
  using Base = narrowgauge::systemc::TransposableGreedyCore<NG_SIDE, NG_KEEP>;
  bool valid() const { return Base::valid() && (fault != 1 || seen_); }
  bool ready() const { return Base::ready() || (fault == 3 && Base::valid()); }
  const Mask& mask() {
    shown_ = Base::mask();
    if (fault == 2) *std::find(shown_.begin(), shown_.end(), true) = false;
    return shown_;
  }
  void step(const Row* row, bool ready) {
    seen_ = Base::valid();
    if (fault == 4 && row && Base::ready() && count_++ % NG_SIDE == 0) {
      const Row now = *row;
      Base::step(&old_, ready);
      old_ = now;
      return;
    }
    Base::step(row, ready);
  }
  bool seen_ = false;
  Mask shown_{};
  Row old_{};
  std::uint64_t count_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc transposable_greedy " + std::to_string(keep) + ":" + std::to_string(side));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::TransposableGreedy<side, keep, width, Core> model("model");
  both.join_clock(model);
  Streams streams(*dut, model);
  auto magnitudes = pin<side * width>(dut->magnitudes_i, model.magnitudes_i);
  auto mask = pin<side * side>(dut->mask_o, model.mask_o);

  std::uint64_t waited = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(streams, traffic_at(i, 20 * side * side));
    both.drive_random(magnitudes);
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] {
    both.same(streams);
    if (dut->valid_o) both.same("mask_o", mask);
  };
  both.run(stimulate, compare, [] {});
  both.covered("a mask waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
