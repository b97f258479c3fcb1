// SPDX-License-Identifier: Apache-2.0
// ng_dot_luq_sparse with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_SPARSE_FP4, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "metadata_stimulus.hpp"
#include "systemc/sparse/dot_luq_sparse.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_luq_sparse, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotLuqSparse<NG_LANES, NG_SPARSE_FP4 != 0, NG_CUTS, FaultyCutPipe<narrowgauge::SparseLuqDot>>
      model("model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    if (bench.rng().bits(1)) both.drive(pins.metadata_i, legal_metadata(bench.rng(), NG_LANES / 2));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
