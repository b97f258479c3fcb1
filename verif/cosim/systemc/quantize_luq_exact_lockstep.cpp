// SPDX-License-Identifier: Apache-2.0
// ng_quantize_luq_exact with cuts and its SystemC module in lock-step. Build parameters: NG_LANES,
// NG_LEVELS, NG_ALPHA, NG_RAND_BITS, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/luq/quantize_luq_exact.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  constexpr int lanes = NG_LANES, levels = NG_LEVELS, mantissa_bits = NG_ALPHA == 0 ? 7 : 23,
                random_bits = NG_RAND_BITS;
  constexpr int code_bits = levels == 7 ? 4 : 5;
  Lockstep<Vdut> both(argc, argv, "systemc quantize_luq_exact, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeLuqExact<lanes, levels, mantissa_bits, random_bits, NG_CUTS,
                                         FaultyCutPipe<narrowgauge::systemc::LuqCodes<lanes>>>
      model("model");
  auto a = pin<16 * lanes>(dut->a_i, model.a_i);
  auto scale = pin<mantissa_bits + 8>(dut->scale_i, model.scale_i);
  auto stochastic = pin(dut->stochastic_i, model.stochastic_i);
  auto rand = pin<random_bits * lanes>(dut->rand_i, model.rand_i);
  auto codes = pin<code_bits * lanes>(dut->codes_o, model.codes_o);
  auto special = pin(dut->special_o, model.special_o);
  const auto stimulate = [&] {
    // 16 binades about 1, so that most elements have codes of their own; now and then any number.
    narrowgauge::systemc::PortWords<16 * lanes> words;
    for (std::uint32_t& word : words) {
      word = static_cast<std::uint32_t>(bench.rng().bits(32));
      if (bench.rng().bits(4) != 0) word = (word & 0x87FF87FFU) + 0x3C003C00U;
    }
    both.drive(a, narrowgauge::systemc::port_of<16 * lanes>(words));
    const std::uint32_t exponent =
        bench.rng().bits(3) == 0 ? static_cast<std::uint32_t>(bench.rng().bits(8)) : 122U + bench.rng().below(10);
    both.drive(scale, exponent << mantissa_bits | static_cast<std::uint32_t>(bench.rng().bits(mantissa_bits)));
    both.drive_random(stochastic);
    both.drive_random(rand);
  };
  run_cut_lockstep(both, model, stimulate, [&] {
    both.same("codes_o", codes);
    both.same("special_o", special);
  });
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
