// SPDX-License-Identifier: Apache-2.0
// ng_quantize_4over6 with cuts and its SystemC module in lock-step. Build parameter: NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/quant/quantize_4over6.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_4over6, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::Quantize4over6<NG_CUTS, FaultyCutPipe<narrowgauge::Nvfp4Block>> model("model");
  auto a = pin<256>(dut->a_i, model.a_i);
  auto tensor_scale = pin<32>(dut->tensor_scale_i, model.tensor_scale_i);
  auto codes = pin<64>(dut->codes_o, model.codes_o);
  auto scale = pin<8>(dut->scale_o, model.scale_o);
  const auto stimulate = [&] {
    // Numbers from 2^-8 to 2^8 of a tensor scale between 2^-7 and 2^8: scales of every size, zero and saturated among
    // them.
    narrowgauge::systemc::PortWords<256> words;
    for (std::uint32_t& word : words)
      word = static_cast<std::uint32_t>(bench.rng().bits(32) & 0x87FF87FF) + 0x3B803B80U;
    both.drive(a, narrowgauge::systemc::port_of<256>(words));
    both.drive(tensor_scale, 0x3C000000U + static_cast<std::uint32_t>(bench.rng().bits(27)));
  };
  const auto compare = [&] {
    both.same("codes_o", codes);
    both.same("scale_o", scale);
  };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
