// SPDX-License-Identifier: Apache-2.0
// The names under which Python knows the enumerations of the model.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge::python {

/// A value of an enumeration, by the name Python knows it under.
template <class Enum, std::size_t N>
Enum find_name(const std::array<std::pair<std::string_view, Enum>, N>& table, std::string_view what,
               std::string_view name) {
  std::string text("unknown ");
  text.append(what).append(" '").append(name).append("'; expected one of");
  const char* separator = " ";
  for (const auto& [known, value] : table) {
    if (known == name) return value;
    text.append(separator).append(known);
    separator = ", ";
  }
  throw Error(text);
}

inline constexpr std::array<std::pair<std::string_view, Rounding>, 4> rounding_names{{
    {"nearest_even", Rounding::nearest_even},
    {"nearest_away", Rounding::nearest_away},
    {"stochastic", Rounding::stochastic},
    {"toward_zero", Rounding::toward_zero},
}};

inline constexpr std::array<std::pair<std::string_view, Overflow>, 4> overflow_names{{
    {"saturate", Overflow::saturate},
    {"ieee", Overflow::ieee},
    {"oracle", Overflow::oracle},
    {"oracle_saturate", Overflow::oracle_saturate},
}};

inline constexpr std::array<std::pair<std::string_view, Scaling>, 4> scaling_names{{
    {"tensor", Scaling::tensor},
    {"vector", Scaling::vector},
    {"1x128", Scaling::block_1x128},
    {"128x128", Scaling::block_128x128},
}};

inline constexpr std::array<std::pair<std::string_view, ScaleRule>, 2> rule_names{{
    {"exact", ScaleRule::exact},
    {"vendor", ScaleRule::vendor},
}};

/// A dialect as text, in a format that was asked for beside it. Throws Error where the dialect has another.
inline Dialect dialect_of(std::string_view text, std::optional<std::string_view> format) {
  Dialect dialect = parse_dialect(text);
  if (!format) return dialect;
  const GemmFormat& asked = find_gemm_format(*format);
  if (is_mx(dialect.scheme) && is_mx(asked.scheme) && asked.a == asked.b) {
    dialect.scheme = asked.scheme;
    dialect.element = asked.a;
  } else if (asked.scheme != dialect.scheme) {
    throw Error("format '" + std::string(*format) + "' was asked for in dialect '" + std::string(text) +
                "', which has another: leave the format out, or take a dialect that has it");
  }
  return dialect;
}

}  // namespace narrowgauge::python
