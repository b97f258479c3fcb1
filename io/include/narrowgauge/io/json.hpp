// SPDX-License-Identifier: Apache-2.0
// JSON from files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace narrowgauge::io {

/// Lists and objects in each other; what copies or writes JSON recurses.
inline constexpr int deepest_json = 64;

/// Throws Error, which begins with `what`, if the text is not JSON, goes deeper than `levels`, or has a number that no
/// double holds.
nlohmann::json parse_json(std::string_view text, const std::string& what, int levels = deepest_json);
/// The same of a file.
nlohmann::json read_json(const std::string& path, int levels = deepest_json);

}  // namespace narrowgauge::io
