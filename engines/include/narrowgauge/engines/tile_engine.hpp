// SPDX-License-Identifier: Apache-2.0
// The engines rtl and systemc: matrix products on a simulated tile, through the firmware's driver and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "narrowgauge/engines/engine.hpp"
#include "narrowgauge/engines/tile_pin_model.hpp"

namespace narrowgauge {

struct TileEngineOptions {
  /// Name of a tile of rtl/tile/configurations.json. Empty: the one with the most products a cycle of those that have
  /// the operands' formats, and of those the one with the fewest formats.
  std::string tile = {};
  /// File for an FST wave of the tile (replaced by each product, when it is done), rtl only; empty: none. Tracing is
  /// much slower. What is wrong with the file is an io::Error.
  std::string trace = {};
  /// Clock cycles that the tile has for a product, up to 2^31, from before its first command on; 0: all that it takes.
  /// Behind them each sum ends with its next beat (docs/units/tile.md, Deadline): C is the golden model's only if
  /// EngineResult::ended_early() is false. Takes a tile that has deadlines.
  std::uint32_t deadline = 0;
};

/// The tiles that can be simulated.
std::span<const TileConfig> tile_configs();
/// The one of that name. Throws Error if there is none.
const TileConfig& find_tile(std::string_view name);

/// A tile of that name, "rtl" or "systemc", for other drivers than the engines'. Throws Error if there is none.
std::unique_ptr<TilePinModel> make_tile_pin_model(std::string_view engine, std::string_view tile);

/// Whether this build has the engine rtl.
bool have_rtl_engine();

/// Name "rtl": the Verilated ng_tile, in builds with NG_RTL (others throw Error). Takes nvfp4 and every pair of fp8
/// formats. Cycles are those of the driver's call, operands packed and tile initialized before. Throws Error for an
/// unknown tile, for formats that no tile (or not the named one) has, for a contraction longer than its accumulators
/// hold, for operands that do not fit each other, and with the driver's text if the driver fails. `progress` counts
/// blocks of results.
std::unique_ptr<Engine> make_rtl_engine(const TileEngineOptions& options = {});

/// Name "systemc": the tile's cycle model (model/systemc), the same in every cycle; without waves. Its core is called
/// directly, not through SystemC's kernel.
std::unique_ptr<Engine> make_systemc_engine(const TileEngineOptions& options = {});

}  // namespace narrowgauge
