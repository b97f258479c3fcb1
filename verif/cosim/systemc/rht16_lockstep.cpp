// SPDX-License-Identifier: Apache-2.0
// ng_rht16 with cuts and its SystemC module in lock-step. Build parameters: NG_WINDOW, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/quant/rht16.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc rht16, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Rht16<NG_WINDOW, NG_CUTS, FaultyCutPipe<narrowgauge::Rht16Result>> model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    // Exponents of a few binades, now and then any: a NaN or an infinity among them.
    narrowgauge::systemc::PortWords<256> words;
    const bool any = bench.rng().chance(0.1);
    const auto top = static_cast<std::uint32_t>(bench.rng().bits(8));
    for (std::uint32_t& word : words) {
      word = static_cast<std::uint32_t>(bench.rng()());
      const std::uint32_t low = top ^ bench.rng().below(8), high = top ^ bench.rng().below(16);
      if (!any) word = (word & 0x807F807F) | low << 7 | high << 23;
    }
    both.drive(pins.x_i, narrowgauge::systemc::port_of<256>(words));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
