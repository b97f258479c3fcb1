// SPDX-License-Identifier: Apache-2.0
// The engines of this build by name.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "narrowgauge/engines/engine.hpp"

namespace narrowgauge::cli {

/// What --engine, --tile and --trace say.
struct EngineFlags {
  std::string engine = "model";
  std::string tile = {};   ///< empty: chosen by the engine
  std::string trace = {};  ///< path of an FST wave; empty: none
};

/// "model|systemc|rtl"
std::string engine_names();
/// --tile, with the names of the tiles.
void add_tile_option(CLI::App& command, std::string& tile);

/// Throws Error if there is no such engine or tile, or for a trace that it cannot write. `threads` are the model's; the
/// simulated hardware runs on one.
std::unique_ptr<Engine> make_engine(const EngineFlags& flags, unsigned threads);

/// "nvfp4, mxfp4, ...", in lines that a help text takes.
std::string gemm_format_names();

}  // namespace narrowgauge::cli
