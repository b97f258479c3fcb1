// SPDX-License-Identifier: Apache-2.0
// ng_dot_luq with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/luq/dot_luq.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_luq, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotLuq<NG_LANES, NG_CUTS, FaultyCutPipe<int>> model("model");
  using Module = decltype(model);
  auto a = pin<4 * NG_LANES>(dut->a_i, model.a_i), b = pin<4 * NG_LANES>(dut->b_i, model.b_i);
  auto dot = pin<Module::dot_width>(dut->dot_o, model.dot_o);
  const auto stimulate = [&] {
    both.drive_random(a);
    both.drive_random(b);
  };
  const auto compare = [&] { both.same("dot_o", dot); };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
