// SPDX-License-Identifier: Apache-2.0
// ng_dot_fp8_sparse with cuts and its SystemC module in lock-step. Build parameters: NG_LANES, NG_FORMAT_SET, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "metadata_stimulus.hpp"
#include "systemc/sparse/dot_fp8_sparse.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_fp8_sparse, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotFp8Sparse<NG_LANES, NG_FORMAT_SET, NG_CUTS, FaultyCutPipe<narrowgauge::SparseFp8Sum>> model(
      "model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    if (bench.rng().bits(1)) both.drive(pins.metadata_i, legal_metadata(bench.rng(), NG_LANES / 2));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
