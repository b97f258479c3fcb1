// SPDX-License-Identifier: Apache-2.0
// ng_dot_e2m1 with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/mac/dot_e2m1.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_e2m1, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotE2m1<NG_LANES, NG_CUTS, FaultyCutPipe<int>> model("model");
  Pins pins(both, model);
  run_cut_lockstep(both, pins);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
