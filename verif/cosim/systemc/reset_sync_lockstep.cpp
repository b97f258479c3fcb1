// SPDX-License-Identifier: Apache-2.0
// ng_reset_sync and its SystemC module in lock-step. Build parameter: NG_STAGES.
#include "dut_pins.hpp"
#include "systemc/prim/reset_sync.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int stages = NG_STAGES;
constexpr const char* faults[] = {"released one edge too early", "released one edge too late",
                                  "a reset waits for the clock"};

struct Core : narrowgauge::systemc::ResetSyncCore<stages> {
  using Base = narrowgauge::systemc::ResetSyncCore<stages>;
  void reset() {
    first_ = true;
    waits_ = fault == 3 && !waits_;
    if (!waits_) Base::reset();
  }
  void step() {
    if (waits_) Base::reset();
    waits_ = false;
    if (fault == 1 && first_) Base::step();
    if (fault != 2 || !first_) Base::step();
    first_ = false;
  }
  bool first_ = true, waits_ = false;
};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc reset_sync " + std::to_string(stages));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::ResetSync<stages, Core> model("model");
  Pins pins(both, model);

  std::uint64_t released = 0, pulses = 0;
  const auto compare = [&] { both.same(pins); };
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    both.maybe_reset(i, compare, 0.5 / stages);
    both.settle();
    compare();
    const bool before = dut->rst_no;
    for (const bool level : {true, false}) {
      dut->clk_i = level;
      clk = level;
      both.settle();
      compare();
      if (level && bench.rng().chance(0.25 / stages)) {  // a pulse while the clock is high
        for (const bool on : {true, false}) {
          both.set_reset(on);
          compare();
        }
        ++pulses;
      }
    }
    released += !before && dut->rst_no;
    bench.vector();
  }
  both.covered("released", released);
  both.covered("a pulse between two edges", pulses);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, faults, run); }
