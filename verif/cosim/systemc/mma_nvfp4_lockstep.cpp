// SPDX-License-Identifier: Apache-2.0
// ng_mma_nvfp4 with cuts and its SystemC module in lock-step. Build parameters: NG_E8M0, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/mac/mma_nvfp4.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc mma_nvfp4, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::MmaNvfp4<NG_E8M0 != 0, NG_CUTS, FaultyCutPipe<std::uint32_t>> model("model");
  Pins pins(both, model);
  run_cut_lockstep(both, pins);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
