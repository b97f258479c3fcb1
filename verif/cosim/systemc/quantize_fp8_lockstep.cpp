// SPDX-License-Identifier: Apache-2.0
// ng_quantize_fp8 with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_FORMAT_SET,
// NG_RAND_BITS, NG_TINY_SCALES, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/quant/quantize_fp8.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  constexpr int lanes = NG_LANES, random_bits = NG_RAND_BITS;
  using Codes = narrowgauge::systemc::Fp8Codes<lanes>;
  Lockstep<Vdut> both(argc, argv, "systemc quantize_fp8, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeFp8<lanes, NG_FORMAT_SET, random_bits, NG_TINY_SCALES, NG_CUTS, FaultyCutPipe<Codes>>
      model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    // 32 binades about 1, so that most elements have codes of their own.
    narrowgauge::systemc::PortWords<16 * lanes> words;
    for (std::uint32_t& word : words)
      word = (static_cast<std::uint32_t>(bench.rng().bits(32)) & 0x8FFF8FFFU) + 0x38003800U;
    both.drive(pins.a_i, narrowgauge::systemc::port_of<16 * lanes>(words));
    both.drive(pins.scale_i, bench.rng().bits(3) == 0 ? static_cast<std::uint32_t>(bench.rng().bits(8))
                                                      : 122U + bench.rng().below(10));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
