// SPDX-License-Identifier: Apache-2.0
// ng_quantize_luq_exact with cuts and its SystemC module in lock-step. Build parameters: NG_LANES,
// NG_LEVELS, NG_ALPHA, NG_RAND_BITS, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/luq/quantize_luq_exact.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  constexpr int lanes = NG_LANES, levels = NG_LEVELS, mantissa_bits = NG_ALPHA == 0 ? 7 : 23,
                random_bits = NG_RAND_BITS;
  Lockstep<Vdut> both(argc, argv, "systemc quantize_luq_exact, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeLuqExact<lanes, levels, mantissa_bits, random_bits, NG_CUTS,
                                         FaultyCutPipe<narrowgauge::systemc::LuqCodes<lanes>>>
      model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    // 16 binades about 1, so that most elements have codes of their own; now and then any number.
    narrowgauge::systemc::PortWords<16 * lanes> words;
    for (std::uint32_t& word : words) {
      word = static_cast<std::uint32_t>(bench.rng().bits(32));
      if (bench.rng().bits(4) != 0) word = (word & 0x87FF87FFU) + 0x3C003C00U;
    }
    both.drive(pins.a_i, narrowgauge::systemc::port_of<16 * lanes>(words));
    const std::uint32_t exponent =
        bench.rng().bits(3) == 0 ? static_cast<std::uint32_t>(bench.rng().bits(8)) : 122U + bench.rng().below(10);
    both.drive(pins.scale_i, exponent << mantissa_bits | static_cast<std::uint32_t>(bench.rng().bits(mantissa_bits)));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
