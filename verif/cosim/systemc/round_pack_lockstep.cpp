// SPDX-License-Identifier: Apache-2.0
// ng_round_pack with cuts and its SystemC module in lock-step. Build parameters: NG_FORMAT, NG_OVERFLOW, NG_SIG_WIDTH,
// NG_EXP_WIDTH, NG_RAND_BITS, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
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
  using Module = decltype(model);
  auto mode = pin<2>(dut->mode_i, model.mode_i);
  auto nan = pin(dut->nan_i, model.nan_i), inf = pin(dut->inf_i, model.inf_i), sign = pin(dut->sign_i, model.sign_i);
  auto exp = pin<params.exp_width>(dut->exp_i, model.exp_i);
  auto sig = pin<params.sig_width>(dut->sig_i, model.sig_i);
  auto random = pin<params.rand_bits>(dut->rand_i, model.rand_i);
  auto code = pin<Module::target.bits>(dut->code_o, model.code_o);
  const auto stimulate = [&] {
    both.drive_random(mode);
    both.drive(nan, bench.rng().chance(0.05));
    both.drive(inf, bench.rng().chance(0.05));
    both.drive_random(sign);
    // Around the exponents of the format, and anywhere.
    const int lowest = Module::target.min_exp() - params.sig_width, exponents = (1 << Module::target.exp_bits) + 40;
    const int exponent = lowest + static_cast<int>(bench.rng().below(static_cast<std::uint32_t>(exponents)));
    both.drive(exp, narrowgauge::systemc::port_of_signed<params.exp_width>(exponent));
    both.drive(
        sig, static_cast<Port<params.sig_width>>(bench.rng().bits(params.sig_width) | 1ULL << (params.sig_width - 1)));
    both.drive_random(random);
  };
  const auto compare = [&] { both.same("code_o", code); };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
