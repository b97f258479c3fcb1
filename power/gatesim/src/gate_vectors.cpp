// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <nlohmann/json.hpp>

#include "gatesim/gate_simulator.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge::power::gate {

Vectors read_vectors(const std::filesystem::path& path) {
  std::ifstream in(path);
  Vectors vectors;
  if (!in || !std::getline(in, vectors.header)) throw Error("stimulus " + path.string() + " cannot be read");
  try {
    const auto header = nlohmann::json::parse(vectors.header);
    for (const auto& port : header.at("ports")) {
      vectors.columns.push_back({port.at("name"), port.at("width")});
      vectors.width += static_cast<std::size_t>(vectors.columns.back().width);
    }
    vectors.cycles = header.at("cycles");
  } catch (const nlohmann::json::exception& error) {
    throw Error("the first line of stimulus " + path.string() + " is not its description: " + error.what());
  }
  vectors.bits.reserve(vectors.cycles * vectors.width);
  std::string line;
  for (std::size_t cycle = 0; cycle < vectors.cycles; ++cycle) {
    const auto fail = [&](const std::string& why) -> Error {
      return Error("line " + std::to_string(cycle + 2) + " of stimulus " + path.string() + " " + why);
    };
    if (!std::getline(in, line)) throw fail("is missing: the file has fewer cycles than it says");
    std::size_t at = 0;
    for (const auto& column : vectors.columns) {
      while (at < line.size() && line[at] == ' ') ++at;
      const std::size_t begin = at;
      while (at < line.size() && line[at] != ' ') ++at;
      const std::size_t digits = at - begin;
      const auto width = static_cast<std::size_t>(column.width);
      if (digits == 0 || digits > (width + 3) / 4) {
        throw fail("has '" + line.substr(begin, digits) + "' for the " + std::to_string(width) + " bits of " +
                   column.name);
      }
      for (std::size_t bit = 0; bit < width; ++bit) {
        const std::size_t digit = bit / 4;
        int value = 0;
        if (digit < digits) {
          const char c = line[at - 1 - digit];
          value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
          if (value < 0) throw fail("has '" + line.substr(begin, digits) + "', which is not a hexadecimal number");
        }
        vectors.bits.push_back(static_cast<std::uint8_t>(value >> (bit % 4) & 1));
      }
    }
  }
  return vectors;
}

}  // namespace narrowgauge::power::gate
