// SPDX-License-Identifier: Apache-2.0
// ng_dot_fp8 with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_FORMAT_SET, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/mac/dot_fp8.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_fp8, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotFp8<NG_LANES, NG_FORMAT_SET, NG_CUTS, FaultyCutPipe<narrowgauge::Fp8Sum>> model("model");
  using Module = decltype(model);
  auto a = pin<8 * NG_LANES>(dut->a_i, model.a_i), b = pin<8 * NG_LANES>(dut->b_i, model.b_i);
  auto a_fmt = pin(dut->a_fmt_i, model.a_fmt_i), b_fmt = pin(dut->b_fmt_i, model.b_fmt_i);
  auto term = pin<Module::term_width>(dut->term_o, model.term_o);
  auto nan = pin(dut->nan_o, model.nan_o), pinf = pin(dut->pinf_o, model.pinf_o), ninf = pin(dut->ninf_o, model.ninf_o);
  const auto stimulate = [&] {
    both.drive_random(a);
    both.drive_random(b);
    both.drive_random(a_fmt);
    both.drive_random(b_fmt);
  };
  const auto compare = [&] {
    both.same("term_o", term);
    both.same("nan_o", nan);
    both.same("pinf_o", pinf);
    both.same("ninf_o", ninf);
  };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
