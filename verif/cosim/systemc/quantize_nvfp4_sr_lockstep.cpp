// SPDX-License-Identifier: Apache-2.0
// ng_quantize_nvfp4_sr with cuts and its SystemC module in lock-step. Build parameters: NG_RAND_BITS,
// NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/quant/quantize_nvfp4_sr.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_nvfp4_sr, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeNvfp4Sr<NG_CUTS, NG_RAND_BITS, FaultyCutPipe<narrowgauge::Nvfp4Block>> model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    // Numbers from 2^-8 to 2^8 of a tensor scale between 2^-7 and 2^8: scales of every size, zero and saturated among
    // them.
    narrowgauge::systemc::PortWords<256> words;
    for (std::uint32_t& word : words)
      word = static_cast<std::uint32_t>(bench.rng().bits(32) & 0x87FF87FF) + 0x3B803B80U;
    both.drive(pins.a_i, narrowgauge::systemc::port_of<256>(words));
    std::uint32_t g = 0x3C000000U + static_cast<std::uint32_t>(bench.rng().bits(27));
    if (bench.rng().bits(2) != 0) g &= 0x7F800000U;  // stochastic under powers of two only
    both.drive(pins.tensor_scale_i, g);
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
