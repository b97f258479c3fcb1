// SPDX-License-Identifier: Apache-2.0
// ng_round_pack with cuts and its SystemC module in lock-step. Build parameters: NG_FORMAT, NG_OVERFLOW, NG_SIG_WIDTH,
// NG_EXP_WIDTH, NG_RAND_BITS, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "systemc/format/round_pack.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc round_pack, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  constexpr narrowgauge::systemc::RoundPackParams params{narrowgauge::Format::NG_FORMAT,
                                                         static_cast<narrowgauge::Overflow>(NG_OVERFLOW), NG_SIG_WIDTH,
                                                         NG_EXP_WIDTH, NG_RAND_BITS};
  narrowgauge::systemc::RoundPack<params, NG_CUTS, FaultyCutPipe<std::uint32_t>> model("model");
  Pins pins(both, model);
  using Module = decltype(model);
  const auto stimulate = [&] {
    both.drive(pins.nan_i, bench.rng().chance(0.05));
    both.drive(pins.inf_i, bench.rng().chance(0.05));
    // Around the exponents of the format, and anywhere.
    const int lowest = Module::target.min_exp() - params.sig_width, exponents = (1 << Module::target.exp_bits) + 40;
    const int exponent = lowest + static_cast<int>(bench.rng().below(static_cast<std::uint32_t>(exponents)));
    both.drive(pins.exp_i, narrowgauge::systemc::port_of_signed<params.exp_width>(exponent));
    both.drive(pins.sig_i, static_cast<Port<params.sig_width>>(bench.rng().bits(params.sig_width) |
                                                               1ULL << (params.sig_width - 1)));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
