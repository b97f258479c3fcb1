// SPDX-License-Identifier: Apache-2.0
// ng_fixed_to_fp32 with cuts and its SystemC module in lock-step. Build parameters: NG_WIDTH, NG_LSB_EXP, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/mac/fixed_to_fp32.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc fixed_to_fp32, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::FixedToFp32<width, NG_LSB_EXP, NG_CUTS, FaultyCutPipe<std::uint32_t>> model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    const __int128 bits = static_cast<__int128>(bench.rng()()) << 64 | bench.rng()();
    both.drive(pins.fixed_i,
               narrowgauge::systemc::port_of_signed<width>(bits >> (128 - width + bench.rng().below(width))));
    for (auto* flag : {&pins.nan_i, &pins.pinf_i, &pins.ninf_i}) both.drive(*flag, bench.rng().chance(0.1));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
