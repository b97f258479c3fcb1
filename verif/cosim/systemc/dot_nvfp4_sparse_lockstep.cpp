// SPDX-License-Identifier: Apache-2.0
// ng_dot_nvfp4_sparse with cuts and its SystemC module in lock-step. Build parameters: NG_PAIRS, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "metadata_stimulus.hpp"
#include "systemc/sparse/dot_nvfp4_sparse.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_nvfp4_sparse, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotNvfp4Sparse<NG_PAIRS != 0, NG_CUTS, FaultyCutPipe<narrowgauge::SparseNvfp4Term>> model(
      "model");
  auto a = pin<64>(dut->a_i, model.a_i);
  auto metadata = pin<model.metadata_width>(dut->metadata_i, model.metadata_i);
  auto b = pin<128>(dut->b_i, model.b_i);
  auto a_scale = pin<8>(dut->a_scale_i, model.a_scale_i), b_scale = pin<8>(dut->b_scale_i, model.b_scale_i);
  auto term = pin<48>(dut->term_o, model.term_o);
  auto nan = pin(dut->nan_o, model.nan_o), error = pin(dut->error_o, model.error_o);
  const auto stimulate = [&] {
    both.drive_random(a);
    both.drive_random(b);
    both.drive_random(a_scale);
    both.drive_random(b_scale);
    both.drive_random(metadata);
    if (bench.rng().bits(1))
      both.drive(metadata, static_cast<std::uint32_t>(legal_metadata(bench.rng(), model.metadata_width / 4)));
  };
  const auto compare = [&] {
    both.same("term_o", term);
    both.same("nan_o", nan);
    both.same("error_o", error);
  };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
