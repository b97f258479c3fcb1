// SPDX-License-Identifier: Apache-2.0
// Fields of JSON, each read with a FieldError for what it may not be. For what reads descriptions and questions.
#pragma once

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "features/text.hpp"
#include "narrowgauge/power/field_error.hpp"
#include "narrowgauge/power/mac_spec.hpp"

namespace narrowgauge::power::fields {

using Json = nlohmann::json;

inline constexpr std::string_view formats[] = {"integer", "fp8_e4m3", "fp8_e5m2", "nvfp4",    "mxfp4",   "bf16",
                                               "fp16",    "fp32",     "tf32",     "fp4_e2m1", "fp4_e3m0"};
inline constexpr std::string_view structures[] = {"array", "booth", "wallace", "serial", "none"};
inline constexpr std::string_view schedules[] = {"plain", "sorted", "dual", "muxed"};
inline constexpr std::string_view distributions[] = {"uniform", "gauss", "half_normal", "histogram"};

template <class T, std::size_t N>
T read_choice(const char* field, const Json& value, const std::string_view (&names)[N], std::size_t usable = N) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    for (std::size_t i = 0; i < usable; ++i)
      if (names[i] == text) return static_cast<T>(i);
  }
  throw FieldError(field, brief(value), "one of " + join(std::span(names).first(usable)));
}

int read_whole(const char* field, const Json& value, int low, int high);
bool read_flag(const char* field, const Json& value);
double read_real(const char* field, const Json& value);
const std::string& read_word(const char* field, const Json& value);

inline constexpr std::string_view mac_keys =
    "format, a_format, b_format, a_width, b_width, a_signed, b_signed, structure, lanes, accumulator, acc_width, "
    "schedule, additions, pipelined";
/// Sets what "format", or "a_format" and "b_format", say, and what goes with it: width and sign of "int8", the lanes of
/// one block.
void read_formats(const Json& object, MacSpec& mac);
/// Takes the key if it is one of a MacSpec (formats have been read before).
bool take_mac(const std::string& key, const Json& value, MacSpec& mac);
OperandStatistics read_statistics(const char* field, const Json& value);

}  // namespace narrowgauge::power::fields
