// SPDX-License-Identifier: Apache-2.0
// The rtl engine: matrix products on the Verilated ng_mac_array, tiled over its rows and columns.
#pragma once

#include <memory>
#include <string>

#include "narrowgauge/engine/engine.hpp"

namespace narrowgauge {

struct RtlEngineOptions {
  /// File for an FST wave of the array's ports and cells (overwritten by each product); empty: none. Tracing is much
  /// slower.
  std::string trace;
};

/// Name "rtl". Takes nvfp4 and every pair of fp8 formats; throws Error for what the arrays cannot multiply (mxfp4), for
/// a contraction longer than the accumulators hold (65536 beats of 16), and as the model engine does for operands that
/// do not fit. The array is the first of configurations.json that has the operands' formats. `progress` counts beats.
std::unique_ptr<Engine> make_rtl_engine(const RtlEngineOptions& options = {});

}  // namespace narrowgauge
