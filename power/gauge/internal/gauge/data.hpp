// SPDX-License-Identifier: Apache-2.0
// The data files that the library carries: power/technologies, calibration, records, memory.json, units.json.
#pragma once

#include <string_view>
#include <vector>

namespace narrowgauge::power {

struct DataFile {
  std::string_view path;  ///< below power/
  std::string_view text;
};

/// Written by embed.cmake.
const std::vector<DataFile>& embedded_data();

}  // namespace narrowgauge::power
