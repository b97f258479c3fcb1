// SPDX-License-Identifier: Apache-2.0
// ng_quantize_mx with cuts and its SystemC module in lock-step. Build parameters: NG_FORMAT_SET, NG_RCEIL,
// NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/quant/quantize_mx.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_mx, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeMx<NG_FORMAT_SET, NG_RCEIL, NG_CUTS, FaultyCutPipe<narrowgauge::MxBlock>> model(
      "model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    // Sixteen binades, so that most elements have codes of their own.
    narrowgauge::systemc::PortWords<512> words;
    for (std::uint32_t& word : words)
      word = (static_cast<std::uint32_t>(bench.rng().bits(32)) & 0x87FF87FFU) + 0x3B803B80U;
    both.drive(pins.a_i, narrowgauge::systemc::port_of<512>(words));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
