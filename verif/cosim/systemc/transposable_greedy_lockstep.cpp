// SPDX-License-Identifier: Apache-2.0
// ng_transposable_greedy and its SystemC module in lock-step. Build parameters: NG_SIDE, NG_KEEP, NG_WIDTH.
#include "dut_pins.hpp"
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
  Mask mask() const {
    Mask shown = Base::mask();
    if (fault == 2) *std::find(shown.begin(), shown.end(), true) = false;
    return shown;
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
  Row old_{};
  std::uint64_t count_ = 0;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc transposable_greedy " + std::to_string(keep) + ":" + std::to_string(side));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::TransposableGreedy<side, keep, width, Core> model("model");
  Pins pins(both, model);

  std::uint64_t waited = 0;
  const auto stimulate = [&](std::uint64_t i) {
    both.drive(pins, traffic_at(i, 20 * side * side));
    both.drive_random(pins.magnitudes_i);
    waited += dut->valid_o && !dut->ready_i;
  };
  const auto compare = [&] { both.same(pins, OnlyWhile(dut->valid_o, pins.mask_o)); };
  both.run(stimulate, compare, [] {});
  both.covered("a mask waited", waited);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
