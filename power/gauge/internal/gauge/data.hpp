// SPDX-License-Identifier: Apache-2.0
// The data files that the library carries: power/technologies, calibration, records, memory.json, units.json.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace narrowgauge::power {

struct DataFile {
  std::string_view path;  ///< below power/
  std::string_view text;
};

/// Written by embed.cmake.
const std::vector<DataFile>& embedded_data();

/// Calls `take` with each JSON text of the files whose paths begin so: a .json is one, a .jsonl one a line. Errors name
/// the file, and the line.
void each_embedded(std::string_view prefix, const std::function<void(const nlohmann::json&)>& take);

/// The file of that path, or null.
nlohmann::json embedded_json(std::string_view path);

/// The record of a unit (power/records/<technology>.jsonl), or null.
nlohmann::json embedded_record(std::string_view technology, std::string_view unit);

}  // namespace narrowgauge::power
