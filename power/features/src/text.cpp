// SPDX-License-Identifier: Apache-2.0
#include "features/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace narrowgauge::power {

std::string number_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

std::string quantity_text(double value, std::string_view unit) {
  static constexpr std::string_view prefixes[] = {"a", "f", "p", "n", "u", "m", "", "k", "M", "G", "T"};
  char buffer[48];
  if (unit == "flip" || unit == "1") {
    std::snprintf(buffer, sizeof buffer, unit == "1" ? "%.6g" : "%.6g flips", value);
    return buffer;
  }
  int step = 6;
  if (value != 0 && std::isfinite(value)) {
    step = static_cast<int>(std::floor(std::log10(std::abs(value) * (1 + 1e-9)) / 3)) + 6;
    step = step < 0 ? 0 : step > 10 ? 10 : step;
  }
  std::snprintf(buffer, sizeof buffer, "%.4g %.*s", value / std::pow(1000.0, step - 6),
                static_cast<int>(prefixes[step].size()), prefixes[step].data());
  return std::string(buffer) + std::string(unit);
}

std::string percent_text(double share) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f %%", 100 * share);
  return buffer;
}

std::string join(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

bool deeper_than(const nlohmann::json& json, int levels) {
  return json.is_structured() && (levels == 0 || std::any_of(json.begin(), json.end(), [&](const nlohmann::json& part) {
                                    return deeper_than(part, levels - 1);
                                  }));
}

std::string brief(const nlohmann::json& json) {
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) {
    std::size_t end = 57;
    while ((text[end] & 0xC0) == 0x80) --end;  // not within a character
    text = text.substr(0, end) + "...";
  }
  return text;
}

}  // namespace narrowgauge::power
