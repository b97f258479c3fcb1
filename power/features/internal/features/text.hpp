// SPDX-License-Identifier: Apache-2.0
// Numbers and lists as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace narrowgauge::power {

/// Shortest text that reads back as the same double; "nan", "inf".
std::string number_text(double value);
/// With a prefix and three digits: "2.15 pJ", "38.4 fJ", "72 flips".
std::string quantity_text(double value, std::string_view unit);
/// 0.0834 as "8.3 %".
std::string percent_text(double share);
/// "a, b, c"
std::string join(std::span<const std::string_view> words);
constexpr int deepest_question = 32;  ///< its id may be any JSON
/// Whether lists and objects stand in each other more than so many times. What writes or copies JSON recurses.
bool deeper_than(const nlohmann::json& json, int levels);
/// As short JSON for messages, whatever bytes its strings have.
std::string brief(const nlohmann::json& json);

}  // namespace narrowgauge::power
