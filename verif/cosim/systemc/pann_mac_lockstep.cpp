// SPDX-License-Identifier: Apache-2.0
// ng_pann_mac and its SystemC module in lock-step, overflows included. Build parameters: NG_X_WIDTH, NG_W_WIDTH,
// NG_ACC_WIDTH.
#include "dut_pins.hpp"
#include "systemc/pann/pann_mac.hpp"

namespace {

using namespace narrowgauge::bench;
using narrowgauge::systemc::PannElement;

constexpr int x_width = NG_X_WIDTH, w_width = NG_W_WIDTH, acc_width = NG_ACC_WIDTH;
constexpr const char* faults[] = {"one addition too few", "a zero weight's sign counts", "ready during a stall",
                                  "the result is lost when it waits", "no element during the last addition"};

struct Core : narrowgauge::systemc::PannMacCore<acc_width> {
  using Base = narrowgauge::systemc::PannMacCore<acc_width>;
  bool ready() const { return fault == 3 || (Base::ready() && (fault != 5 || idle_)); }
  void step(const PannElement* element, bool ready) {
    PannElement changed = element ? *element : PannElement{};
    if (fault == 1 && changed.w > 1) --changed.w;
    if (fault == 2 && changed.w == 0 && changed.negative) {
      changed.w = 1;
      changed.x = 0;
    }
    idle_ = !(element && Base::ready());
    Base::step(element ? &changed : nullptr, ready || fault == 4);
  }
  bool idle_ = true;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc pann_mac");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::PannMac<x_width, w_width, acc_width, Core> model("model");
  Pins pins(both, model);

  std::uint64_t results = 0, stalls = 0;
  const auto stimulate = [&](std::uint64_t i) {
    // Elements need not be held here: what an element that was not taken becomes is no matter of the unit.
    both.drive(pins, traffic_at(i));
    const bool large = i / 1000 % 2 == 1;  // long outputs, which wrap
    both.drive(pins.first_i, bench.rng().chance(large ? 0.002 : 0.3));
    both.drive(pins.last_i, bench.rng().chance(0.4));
    both.drive(pins.x_i, static_cast<Port<x_width>>(bench.rng().bits(x_width)));
    const auto any = static_cast<Port<w_width>>(large ? bench.rng().bits(w_width) : bench.rng().below(3));
    both.drive(pins.w_i, static_cast<Port<w_width>>(any & ((1U << w_width) - 1)));
    both.drive(pins.negative_i, bench.rng().chance(0.4));
    results += dut->valid_o && dut->ready_i;
  };
  const auto compare = [&] { both.same(pins); };
  both.run(stimulate, compare, [&] { stalls += dut->valid_o && !dut->ready_i && !dut->ready_o; });
  both.covered("a result was taken", results);
  both.covered("a result blocked the input", stalls);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
