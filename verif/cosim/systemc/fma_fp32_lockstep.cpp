// SPDX-License-Identifier: Apache-2.0
// ng_fma_fp32 with cuts and its SystemC module in lock-step. Build parameters: NG_FORMAT, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "systemc/mac/fma_fp32.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc fma_fp32, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  constexpr auto format = narrowgauge::Format::NG_FORMAT;
  narrowgauge::systemc::FmaFp32<format, NG_CUTS, FaultyCutPipe<std::uint32_t>> model("model");
  using Module = decltype(model);
  auto a = pin<Module::bits>(dut->a_i, model.a_i), b = pin<Module::bits>(dut->b_i, model.b_i);
  auto c = pin<32>(dut->c_i, model.c_i), fp32 = pin<32>(dut->fp32_o, model.fp32_o);
  const auto stimulate = [&] {
    both.drive_random(a);
    both.drive_random(b);
    both.drive_random(c);
  };
  const auto compare = [&] { both.same("fp32_o", fp32); };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
