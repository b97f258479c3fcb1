// SPDX-License-Identifier: Apache-2.0
// ng_dot_luq_sparse with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_SPARSE_FP4, NG_CUTS.
#include "Vdut.h"
#include "cut_lockstep.hpp"
#include "metadata_stimulus.hpp"
#include "systemc/sparse/dot_luq_sparse.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_luq_sparse, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotLuqSparse<NG_LANES, NG_SPARSE_FP4 != 0, NG_CUTS, FaultyCutPipe<narrowgauge::SparseLuqDot>>
      model("model");
  using Module = decltype(model);
  auto stored = pin<4 * NG_LANES>(dut->stored_i, model.stored_i);
  auto metadata = pin<2 * NG_LANES>(dut->metadata_i, model.metadata_i);
  auto dense = pin<8 * NG_LANES>(dut->dense_i, model.dense_i);
  auto dot = pin<Module::dot_width>(dut->dot_o, model.dot_o);
  auto error = pin(dut->error_o, model.error_o);
  const auto stimulate = [&] {
    both.drive_random(stored);
    both.drive_random(dense);
    both.drive_random(metadata);
    if (bench.rng().bits(1)) both.drive(metadata, legal_metadata(bench.rng(), NG_LANES / 2));
  };
  const auto compare = [&] {
    both.same("dot_o", dot);
    both.same("error_o", error);
  };
  run_cut_lockstep(both, model, stimulate, compare);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
