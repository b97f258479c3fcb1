// SPDX-License-Identifier: Apache-2.0
// The Verilated tiles and units, each in a shared library that is loaded when it is asked for.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "narrowgauge/engines/mma_unit_model.hpp"
#include "narrowgauge/engines/tile_pin_model.hpp"

namespace narrowgauge {

/// Whether this build has Verilated tiles.
bool have_verilated_tiles();

/// The Verilated tile `name` of rtl/tile/configurations.json, with an FST wave to `trace` unless that is empty. Its
/// library is sought in the folder that the environment variable NARROWGAUGE_TILES names, else where the build puts
/// it. Throws Error if there is no such library, naming the target that builds it, or if it belongs to another build.
std::unique_ptr<TilePinModel> make_verilated_tile(std::string_view name, const std::string& trace);

/// The unit of a matrix instruction of that name (engines/CMakeLists.txt), from the same folder. Throws Error likewise.
std::unique_ptr<MmaUnitModel> make_verilated_mma(std::string_view name);

/// Files that writers of waves of this tile have closed in this thread although not all of them could be written: of
/// the wave itself, or temporary ones. Throws Error as make_verilated_tile does.
unsigned incomplete_files(std::string_view name);

}  // namespace narrowgauge
