// SPDX-License-Identifier: Apache-2.0
// ng_dot_nvfp4 with cuts and its SystemC module in lock-step. Build parameters: NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/mac/dot_nvfp4.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_nvfp4, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotNvfp4<NG_CUTS, FaultyCutPipe<narrowgauge::Nvfp4Term>> model("model");
  auto a = pin<64>(dut->a_i, model.a_i), b = pin<64>(dut->b_i, model.b_i);
  auto a_scale = pin<8>(dut->a_scale_i, model.a_scale_i), b_scale = pin<8>(dut->b_scale_i, model.b_scale_i);
  auto term = pin<48>(dut->term_o, model.term_o);
  auto nan = pin(dut->nan_o, model.nan_o);
  const auto stimulate = [&] {
    both.drive_random(a);
    both.drive_random(b);
    both.drive_random(a_scale);
    both.drive_random(b_scale);
  };
  const auto compare = [&] {
    both.same("term_o", term);
    both.same("nan_o", nan);
  };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
