// SPDX-License-Identifier: Apache-2.0
// ng_quantize_4over6 with cuts and its SystemC module in lock-step. Build parameter: NG_CUTS.
#include "nvfp4_lockstep.hpp"
#include "systemc/quant/quantize_4over6.hpp"

namespace {

using namespace narrowgauge::bench;
using Model = narrowgauge::systemc::Quantize4over6<NG_CUTS, FaultyCutPipe<narrowgauge::Nvfp4Block>>;

int run(int argc, char** argv) { return run_nvfp4_lockstep<Model>(argc, argv, "quantize_4over6"); }

}  // namespace

int sc_main(int argc, char** argv) { return lockstep_main(argc, argv, cut_faults, run); }
