// SPDX-License-Identifier: Apache-2.0
// ng_scale_nvfp4 with cuts and its SystemC module in lock-step. Build parameter: NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/mac/scale_nvfp4.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc scale_nvfp4, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::ScaleNvfp4<NG_CUTS, FaultyCutPipe<narrowgauge::Nvfp4Term>> model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    constexpr int limit = 2304;  // 16 lanes of 12 * 12
    const int sum = static_cast<int>(bench.rng().below(2 * limit + 1)) - limit;
    both.drive(pins.dot_i, narrowgauge::systemc::port_of_signed<13>(sum));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
