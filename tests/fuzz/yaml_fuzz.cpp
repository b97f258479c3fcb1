// SPDX-License-Identifier: Apache-2.0
// Any bytes as YAML, and what is YAML as a design space and as a workload of ZigZag or Timeloop: an Error in one
// sentence, a space whose points are counted, or layers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "narrowgauge/error.hpp"
#include "narrowgauge/power/explore/space.hpp"
#include "narrowgauge/power/explore/workload.hpp"
#include "narrowgauge/power/explore/workload_formats.hpp"
#include "yaml_tree.hpp"

namespace {

using namespace narrowgauge;

void expect_sentence(const Error& error) {
  const std::string_view said = error.what();
  // A line feed in a text's place, or an escape sequence of a terminal: yaml-cpp names characters as they are.
  if (said.empty() || std::ranges::any_of(said, [](char c) { return c >= 0 && c < ' '; })) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nlohmann::json json;
  try {
    json = cli::parse_yaml(std::string(reinterpret_cast<const char*>(data), size), 32);
  } catch (const Error& error) {
    expect_sentence(error);
    return 0;
  }
  if (json.is_object()) {
    try {
      const power::Space space = power::space_from_json(json);
      if (space.points() == 0 || power::to_json(space).empty()) std::abort();
    } catch (const Error& error) {
      expect_sentence(error);
    }
  }
  try {
    if (power::workload_from_json(power::workload_from_tree(json)).layers.empty()) std::abort();
  } catch (const Error& error) {
    expect_sentence(error);
  }
  return 0;
}
