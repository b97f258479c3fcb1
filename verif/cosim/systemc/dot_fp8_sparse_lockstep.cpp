// SPDX-License-Identifier: Apache-2.0
// ng_dot_fp8_sparse with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_FORMAT_SET, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "metadata_stimulus.hpp"
#include "systemc/sparse/dot_fp8_sparse.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_fp8_sparse, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotFp8Sparse<NG_LANES, NG_FORMAT_SET, NG_CUTS, FaultyCutPipe<narrowgauge::SparseFp8Sum>> model(
      "model");
  using Module = decltype(model);
  auto stored = pin<8 * NG_LANES>(dut->stored_i, model.stored_i);
  auto metadata = pin<2 * NG_LANES>(dut->metadata_i, model.metadata_i);
  auto dense = pin<16 * NG_LANES>(dut->dense_i, model.dense_i);
  auto stored_fmt = pin(dut->stored_fmt_i, model.stored_fmt_i), dense_fmt = pin(dut->dense_fmt_i, model.dense_fmt_i);
  auto term = pin<Module::term_width>(dut->term_o, model.term_o);
  auto nan = pin(dut->nan_o, model.nan_o), pinf = pin(dut->pinf_o, model.pinf_o), ninf = pin(dut->ninf_o, model.ninf_o);
  auto error = pin(dut->error_o, model.error_o);
  const auto stimulate = [&] {
    both.drive_random(stored);
    both.drive_random(dense);
    both.drive_random(stored_fmt);
    both.drive_random(dense_fmt);
    both.drive_random(metadata);
    if (bench.rng().bits(1)) both.drive(metadata, legal_metadata(bench.rng(), NG_LANES / 2));
  };
  const auto compare = [&] {
    both.same("term_o", term);
    both.same("nan_o", nan);
    both.same("pinf_o", pinf);
    both.same("ninf_o", ninf);
    both.same("error_o", error);
  };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
