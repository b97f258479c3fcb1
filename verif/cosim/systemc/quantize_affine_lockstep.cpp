// SPDX-License-Identifier: Apache-2.0
// ng_quantize_affine with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_BITS, NG_INPUT,
// NG_POW2, NG_PER_LANE, NG_SIGNED, NG_TIES_AWAY, NG_RAND_BITS, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/quant/quantize_affine.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr narrowgauge::systemc::AffineParams params{.lanes = NG_LANES,
                                                    .bits = NG_BITS,
                                                    .input = NG_INPUT,
                                                    .pow2 = NG_POW2,
                                                    .per_lane = NG_PER_LANE,
                                                    .is_signed = NG_SIGNED,
                                                    .ties_away = NG_TIES_AWAY,
                                                    .random_bits = NG_RAND_BITS};

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc quantize_affine, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::QuantizeAffine<params, NG_CUTS, FaultyCutPipe<narrowgauge::systemc::AffineCodes<NG_LANES>>>
      model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    if (bench.rng().bits(3) == 0) return;  // anything
    // FP32 of 16 binades about 1, so that most elements have codes of their own.
    if (params.unit().input == narrowgauge::AffineInput::fp32) {
      narrowgauge::systemc::PortWords<32 * NG_LANES> words;
      for (std::uint32_t& word : words)
        word = (static_cast<std::uint32_t>(bench.rng().bits(32)) & 0x87FFFFFFU) + 0x3C000000U;
      both.drive(pins.a_i, narrowgauge::systemc::port_of<32 * NG_LANES>(words));
    }
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
