// SPDX-License-Identifier: Apache-2.0
// The engines of this build by name.
#pragma once

#include <memory>
#include <string>

#include "narrowgauge/engine/engine.hpp"

namespace narrowgauge::cli {

/// "model|rtl"
std::string engine_names();

/// Throws Error if there is no such engine, or for a `trace` (path of an FST wave, empty: none) that it cannot write.
/// `threads` are the model's; the simulated hardware runs on one.
std::unique_ptr<Engine> make_engine(const std::string& name, const std::string& trace, unsigned threads);

/// "nvfp4, mxfp4, ..."
std::string gemm_format_names();

}  // namespace narrowgauge::cli
