// SPDX-License-Identifier: Apache-2.0
// ng_quantize_int4 with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/luq/quantize_int4.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  constexpr int lanes = NG_LANES;
  Lockstep<Vdut> both(argc, argv, "systemc quantize_int4, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeInt4<lanes, NG_CUTS, FaultyCutPipe<narrowgauge::systemc::LuqCodes<lanes>>> model(
      "model");
  auto a = pin<16 * lanes>(dut->a_i, model.a_i);
  auto scale = pin<31>(dut->scale_i, model.scale_i);
  auto codes = pin<4 * lanes>(dut->codes_o, model.codes_o);
  auto special = pin(dut->special_o, model.special_o);
  const auto stimulate = [&] {
    // Within eight binades of the scale, so that most elements have codes of their own; now and then any number.
    narrowgauge::systemc::PortWords<16 * lanes> words;
    for (std::uint32_t& word : words) {
      word = static_cast<std::uint32_t>(bench.rng().bits(32));
      if (bench.rng().bits(4) != 0) word = (word & 0x83FF83FFU) + 0x3F003F00U;
    }
    both.drive(a, narrowgauge::systemc::port_of<16 * lanes>(words));
    const std::uint32_t exponent =
        bench.rng().bits(3) == 0 ? static_cast<std::uint32_t>(bench.rng().bits(8)) : 126U + bench.rng().below(4);
    both.drive(scale, exponent << 23 | static_cast<std::uint32_t>(bench.rng().bits(23)));
  };
  run_cut_lockstep(both, model, stimulate, [&] {
    both.same("codes_o", codes);
    both.same("special_o", special);
  });
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
