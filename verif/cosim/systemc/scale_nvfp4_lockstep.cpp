// SPDX-License-Identifier: Apache-2.0
// ng_scale_nvfp4 with cuts and its SystemC module in lock-step. Build parameter: NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/mac/scale_nvfp4.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc scale_nvfp4, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::ScaleNvfp4<NG_CUTS, FaultyCutPipe<narrowgauge::Nvfp4Term>> model("model");
  auto dot = pin<13>(dut->dot_i, model.dot_i);
  auto a_scale = pin<8>(dut->a_scale_i, model.a_scale_i), b_scale = pin<8>(dut->b_scale_i, model.b_scale_i);
  auto term = pin<48>(dut->term_o, model.term_o);
  auto nan = pin(dut->nan_o, model.nan_o);
  const auto stimulate = [&] {
    constexpr int limit = 2304;  // 16 lanes of 12 * 12
    const int sum = static_cast<int>(bench.rng().below(2 * limit + 1)) - limit;
    both.drive(dot, narrowgauge::systemc::port_of_signed<13>(sum));
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
