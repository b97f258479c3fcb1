// SPDX-License-Identifier: Apache-2.0
// Products on Verilated units that add as matrix instructions of others add (docs/accumulation.md).
#pragma once

#include <memory>

#include "narrowgauge/engines/engine.hpp"
#include "narrowgauge/mac/accumulate.hpp"

namespace narrowgauge {

/// Name "rtl": one unit of rtl/mac/ng_mma_*.sv does the steps of all outputs. As many outputs as it has registers take
/// turns, so that it takes a step every cycle; EngineResult::tile is its name, and cycles are its clock edges. C is
/// gemm(a, b, mode)'s. Only gemm() is there: the others throw Error. Throws Error in builds without NG_RTL, and for
/// `exact`, whose engines are those of the tile. gemm() throws Error for a format that the mode or no unit has, and for
/// FP32 scales per 128. `progress` counts steps.
std::unique_ptr<Engine> make_mma_engine(Accumulation mode);

}  // namespace narrowgauge
