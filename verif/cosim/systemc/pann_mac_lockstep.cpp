// SPDX-License-Identifier: Apache-2.0
// ng_pann_mac and its SystemC module in lock-step, overflows included. Build parameters: NG_X_WIDTH, NG_W_WIDTH,
// NG_ACC_WIDTH.
#include "Vdut.h"
#include "lockstep.hpp"
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
  sc_core::sc_signal<bool> valid_i, ready_o, first_i, last_i, negative_i, valid_o, ready_i;
  sc_core::sc_signal<Port<x_width>> x_i;
  sc_core::sc_signal<Port<w_width>> w_i;
  sc_core::sc_signal<Port<acc_width>> result_o;
  narrowgauge::systemc::PannMac<x_width, w_width, acc_width, Core> model("model");
  model.clk_i(both.clk);
  model.rst_ni(both.rst_n);
  model.valid_i(valid_i);
  model.ready_o(ready_o);
  model.first_i(first_i);
  model.last_i(last_i);
  model.x_i(x_i);
  model.w_i(w_i);
  model.negative_i(negative_i);
  model.valid_o(valid_o);
  model.ready_i(ready_i);
  model.result_o(result_o);

  auto& [bench, dut, clk, rst_n] = both;
  const auto compare = [&] {
    both.same("ready_o", dut->ready_o, ready_o);
    both.same("valid_o", dut->valid_o, valid_o);
    both.same<acc_width>("result_o", dut->result_o, result_o);
  };
  std::uint64_t results = 0, stalls = 0, resets = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || bench.rng().chance(0.002)) {
      both.set_reset(true);
      compare();
      for (std::uint64_t n = bench.rng().bits(2); n > 0; --n) both.tick();
      both.set_reset(false);
      ++resets;
    }
    // Elements need not be held here: what an element that was not taken becomes is no matter of the unit.
    const Traffic& traffic = traffics[i / 100 % std::size(traffics)];
    const bool large = i / 1000 % 2 == 1;  // long outputs, which wrap
    both.drive(dut->valid_i, valid_i, !bench.rng().chance(traffic.bubble));
    both.drive(dut->first_i, first_i, bench.rng().chance(large ? 0.002 : 0.3));
    both.drive(dut->last_i, last_i, bench.rng().chance(0.4));
    both.drive<x_width>(dut->x_i, x_i, static_cast<Port<x_width>>(bench.rng().bits(x_width)));
    const auto w = static_cast<Port<w_width>>(large ? bench.rng().bits(w_width) : bench.rng().below(3));
    both.drive<w_width>(dut->w_i, w_i, static_cast<Port<w_width>>(w & ((1U << w_width) - 1)));
    both.drive(dut->negative_i, negative_i, bench.rng().chance(0.4));
    both.drive(dut->ready_i, ready_i, !bench.rng().chance(traffic.stall));
    both.settle();
    compare();
    results += dut->valid_o && dut->ready_i;
    stalls += dut->valid_o && !dut->ready_i && !dut->ready_o;
    both.tick();
    compare();
    bench.vector();
  }
  both.covered("reset", resets, 2);
  both.covered("a result was taken", results);
  both.covered("a result blocked the input", stalls);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
