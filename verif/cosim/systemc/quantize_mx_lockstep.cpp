// SPDX-License-Identifier: Apache-2.0
// ng_quantize_mx with cuts and its SystemC module in lock-step. Build parameters: NG_FORMAT_SET, NG_RCEIL,
// NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/quant/quantize_mx.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_mx, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeMx<NG_FORMAT_SET, NG_RCEIL, NG_CUTS, FaultyCutPipe<narrowgauge::MxBlock>> model(
      "model");
  auto a = pin<512>(dut->a_i, model.a_i);
  auto fmt = pin(dut->fmt_i, model.fmt_i);
  auto stochastic = pin(dut->stochastic_i, model.stochastic_i);
  auto rand = pin<256>(dut->rand_i, model.rand_i);
  auto codes = pin < NG_FORMAT_SET == 0 ? 128 : 256 > (dut->codes_o, model.codes_o);
  auto scale = pin<8>(dut->scale_o, model.scale_o);
  const auto stimulate = [&] {
    // Sixteen binades, so that most elements have codes of their own.
    narrowgauge::systemc::PortWords<512> words;
    for (std::uint32_t& word : words)
      word = (static_cast<std::uint32_t>(bench.rng().bits(32)) & 0x87FF87FFU) + 0x3B803B80U;
    both.drive(a, narrowgauge::systemc::port_of<512>(words));
    both.drive_random(rand);
    both.drive_random(fmt);
    both.drive_random(stochastic);
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
