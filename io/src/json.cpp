// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/io/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::io {

nlohmann::json parse_json(std::string_view text, const std::string& what, int levels) {
  using nlohmann::json;
  const auto check = [&](int depth, json::parse_event_t event, json&) {
    const bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= levels) {
      throw Error(what + " has more than " + std::to_string(levels) + " lists or objects in each other; write it flat");
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(error.byte == 0 ? 0 : error.byte - 1, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw Error(what + (text.empty() ? " is empty" : " is not JSON") + " (line " + std::to_string(line) + ", byte " +
                std::to_string(before.size() - start + 1) + ")");
  } catch (const json::out_of_range&) {
    throw Error(what + " has a number beyond double's range");
  }
}

nlohmann::json read_json(const std::string& path, int levels) {
  return parse_json(read_text(path), shown(path), levels);
}

}  // namespace narrowgauge::io
