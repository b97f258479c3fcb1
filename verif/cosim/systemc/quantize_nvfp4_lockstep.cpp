// SPDX-License-Identifier: Apache-2.0
// ng_quantize_nvfp4 with cuts and its SystemC module in lock-step. Build parameters: NG_TINY_SCALES, NG_CUTS.
#include "nvfp4_lockstep.hpp"
#include "systemc/quant/quantize_nvfp4.hpp"

namespace {

using namespace narrowgauge::bench;
using Model = narrowgauge::systemc::QuantizeNvfp4<NG_CUTS, NG_TINY_SCALES, FaultyCutPipe<narrowgauge::Nvfp4Block>>;

int run(int argc, char** argv) { return run_nvfp4_lockstep<Model>(argc, argv, "quantize_nvfp4"); }

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
