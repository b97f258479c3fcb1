// SPDX-License-Identifier: Apache-2.0
// YAML as the JSON that the library's readers take.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace narrowgauge::cli {

/// The document of a text. A scalar that reads as a finite number is one, unless it is quoted, and any other is text.
/// Throws Error for what is no YAML, for a key that comes twice in one map, and for more than `levels` levels or a
/// million nodes: an alias may contain itself.
nlohmann::json parse_yaml(const std::string& text, int levels);

}  // namespace narrowgauge::cli
