// SPDX-License-Identifier: Apache-2.0
// The gauge's answers as tables of other tools. Those tools have no field for an error or a source: provenance.json,
// written beside the tables, has every answer whole, and what could not be answered with the reason.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/power/gauge.hpp"

namespace narrowgauge::power {

using ExportedFiles = std::vector<std::filesystem::path>;

/// Writes the multiply-accumulates of the usual formats in one technology (empty: osu018) for `kind`:
/// - "accelergy": a set of tables for accelergy-table-based-plug-ins (narrowgauge.table.yaml, data/intmac.csv,
///   data/fpmac.csv; picojoules, square micrometres) and reference tables of energy and area for Timeloop (ERT.yaml,
///   ART.yaml)
/// - "zigzag": a hardware description for each format (picojoules, square millimetres); whole where the technology has
///   cited memories, else its operational array alone
/// - "hwcomponents": a Python component class (joules, square metres, watts, seconds)
/// Area, leakage and period are a lane's of the recorded unit; without a record they are not known, and NaN.
/// Returns the files written. They are complete under other names when `announce` is told of them, and take their
/// places when it returns; if it throws, nothing is left. Throws FieldError for an unknown kind or technology, Error if
/// nothing of it can be answered or the folder cannot be written.
ExportedFiles export_tables(const Gauge& gauge, std::string_view kind, std::string_view technology,
                            const std::filesystem::path& folder,
                            const std::function<void(const ExportedFiles&)>& announce = {});

}  // namespace narrowgauge::power
