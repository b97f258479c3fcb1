// SPDX-License-Identifier: Apache-2.0
// Any bytes as JSON: an Error, or a value that is the same after it is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using narrowgauge::io::parse_json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nlohmann::json value;
  try {
    value = parse_json(text, "input");
  } catch (const narrowgauge::io::Error& error) {
    if (!std::string_view(error.what()).starts_with("input")) std::abort();
    return 0;
  }
  if (parse_json(value.dump(), "what was written") != value) std::abort();
  return 0;
}
