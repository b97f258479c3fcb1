// SPDX-License-Identifier: Apache-2.0
// ng_fp8_lane with cuts and its SystemC module in lock-step. Build parameters: NG_FORMAT_SET, NG_OWE, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/mac/fp8_lane.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc fp8_lane, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Fp8Lane<NG_FORMAT_SET, NG_OWE != 0, NG_CUTS, FaultyCutPipe<narrowgauge::systemc::Fp8LaneValue>>
      model("model");
  Pins pins(both, model);
  run_cut_lockstep(both, pins);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
