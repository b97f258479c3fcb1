// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

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

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

}  // namespace narrowgauge::power
