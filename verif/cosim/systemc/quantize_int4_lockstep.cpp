// SPDX-License-Identifier: Apache-2.0
// ng_quantize_int4 with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/luq/quantize_int4.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  constexpr int lanes = NG_LANES;
  Lockstep<Vdut> both(argc, argv, "systemc quantize_int4, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeInt4<lanes, NG_CUTS, FaultyCutPipe<narrowgauge::systemc::LuqCodes<lanes>>> model(
      "model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    // Within eight binades of the scale, so that most elements have codes of their own; now and then any number.
    narrowgauge::systemc::PortWords<16 * lanes> words;
    for (std::uint32_t& word : words) {
      word = static_cast<std::uint32_t>(bench.rng().bits(32));
      if (bench.rng().bits(4) != 0) word = (word & 0x83FF83FFU) + 0x3F003F00U;
    }
    both.drive(pins.a_i, narrowgauge::systemc::port_of<16 * lanes>(words));
    const std::uint32_t exponent =
        bench.rng().bits(3) == 0 ? static_cast<std::uint32_t>(bench.rng().bits(8)) : 126U + bench.rng().below(4);
    both.drive(pins.scale_i, exponent << 23 | static_cast<std::uint32_t>(bench.rng().bits(23)));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
