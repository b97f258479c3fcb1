// SPDX-License-Identifier: Apache-2.0
// ng_norm_apply with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_BF16, NG_FRAC_BITS,
// NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/norm/norm_apply.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc norm_apply, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  using Results = narrowgauge::systemc::NormApplied<NG_LANES>;
  narrowgauge::systemc::NormApply<NG_LANES, NG_BF16 != 0, NG_FRAC_BITS, NG_CUTS, FaultyCutPipe<Results>> model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    if (bench.rng().bits(2) == 0) return;  // anything
    // Numbers under which few results of INT8 saturate.
    both.drive(pins.multiplier_i, static_cast<std::uint32_t>(bench.rng().bits(NG_FRAC_BITS)));
    both.drive(pins.offset_i, static_cast<std::uint32_t>(bench.rng().bits(NG_FRAC_BITS)));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
