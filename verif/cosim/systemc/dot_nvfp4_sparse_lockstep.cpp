// SPDX-License-Identifier: Apache-2.0
// ng_dot_nvfp4_sparse with cuts and its SystemC module in lock-step. Build parameters: NG_PAIRS, NG_CUTS.
#include "cut_lockstep.hpp"
#include "dut_pins.hpp"
#include "metadata_stimulus.hpp"
#include "systemc/sparse/dot_nvfp4_sparse.hpp"

namespace {

using namespace narrowgauge::bench;

int run(int argc, char** argv) {
  Lockstep<Vdut> both(argc, argv, "systemc dot_nvfp4_sparse, cuts " + std::to_string(NG_CUTS));
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::DotNvfp4Sparse<NG_PAIRS != 0, NG_CUTS, FaultyCutPipe<narrowgauge::SparseNvfp4Term>> model(
      "model");
  Pins pins(both, model);
  const auto stimulate = [&] {
    if (bench.rng().bits(1))
      both.drive(pins.metadata_i, static_cast<std::uint32_t>(legal_metadata(bench.rng(), model.metadata_width / 4)));
  };
  run_cut_lockstep(both, pins, stimulate);
  return bench.finish();
}

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
