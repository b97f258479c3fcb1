// SPDX-License-Identifier: Apache-2.0
// The engines of this build by name.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "narrowgauge/engines/engine.hpp"
#include "narrowgauge/mac/accumulate.hpp"

namespace narrowgauge::cli {

/// What --engine, --tile, --trace, --port and --baud say.
struct EngineFlags {
  std::string engine = "model";
  std::string tile = {};   ///< empty: chosen by the engine
  std::string trace = {};  ///< path of an FST wave; empty: none
  std::string port = {};   ///< serial device of a board
  unsigned baud = 3'000'000;
  std::uint32_t deadline = 0;                     ///< clock cycles of a simulated tile for a product; 0: none
  Accumulation accumulate = Accumulation::exact;  ///< of rtl; of model it is the caller's
};

/// "model|systemc|rtl|board"
std::string engine_names();
/// --port and --baud.
void add_board_options(CLI::App& command, EngineFlags& flags);
/// --tile, with the names of the tiles.
void add_tile_option(CLI::App& command, std::string& tile,
                     const std::string& help = "Simulated hardware; default: the largest that has the format");

/// Throws Error if there is no such engine or tile, for another accumulation than exact that the engine does not have,
/// or for a trace that it cannot write. `threads` are the model's; the simulated hardware runs on one.
std::unique_ptr<Engine> make_engine(const EngineFlags& flags, unsigned threads);

/// "nvfp4, mxfp4, ...", in lines that a help text takes.
std::string gemm_format_names();

}  // namespace narrowgauge::cli
