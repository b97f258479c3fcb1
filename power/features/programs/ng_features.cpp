// SPDX-License-Identifier: Apache-2.0
// ng_features: what the rungs L0 and L1 see of .stim files, as JSON lines: L1's features counted on the operands, L0's
// expected from the stimulus' distribution (where it has a name, else from how often each code occurs). power/fit reads
// them.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "narrowgauge/error.hpp"
#include "narrowgauge/io/json.hpp"
#include "narrowgauge/power/features.hpp"
#include "narrowgauge/power/mac_spec.hpp"

namespace {

using narrowgauge::Error;
using namespace narrowgauge::power;
using nlohmann::json;

/// Fields of `width` bits of a value in hex, lowest first.
std::vector<std::uint32_t> fields(const std::string& hex, std::size_t count, int width) {
  const auto bit = [&](std::size_t k) -> std::uint32_t {
    if (k / 4 >= hex.size()) return 0;
    const char c = hex[hex.size() - 1 - k / 4];
    return static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10) >> (k % 4) & 1;
  };
  std::vector<std::uint32_t> values(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (int k = 0; k < width; ++k)
      values[i] |= bit(i * static_cast<std::size_t>(width) + static_cast<std::size_t>(k)) << k;
  return values;
}

/// Cycles from one 1 to the next, the same everywhere.
std::size_t distance(const std::vector<std::string>& column) {
  std::size_t every = 1;
  while (every < column.size() && column[every] == "0") ++every;
  for (std::size_t t = 0; t < column.size(); ++t)
    if ((column[t] != "0") != (t % every == 0)) throw Error("sums are of different length");
  return every;
}

/// How the columns of a .stim file make an operand stream.
struct Stream {
  std::vector<std::uint32_t> a, b;
  std::vector<std::uint8_t> a_scale, b_scale;
  std::size_t cycles = 0, every = 0;
};

/// Elements of repeated additions: each is offered while the one before is added (features_counted.hpp). Zeros were
/// left out; they fill the sums up to the length of the longest.
Stream repeated(const std::map<std::string, std::vector<std::string>>& columns, std::size_t lines, const MacSpec& mac) {
  struct Element {
    std::uint32_t a, b;
  };
  std::vector<std::vector<Element>> sums;
  std::size_t offered = 1;
  for (std::size_t t = 0; t < lines;) {
    const auto field = [&](const char* port, int width) { return fields(columns.at(port)[t], 1, width)[0]; };
    const std::uint32_t magnitude = field("w_i", mac.b_width);
    const bool first = field("first_i", 1) != 0;
    if (first) sums.emplace_back();
    if (sums.empty() || magnitude == 0) throw Error("cycle " + std::to_string(t) + " is a zero, or outside of a sum");
    sums.back().push_back({field("x_i", mac.a_width),
                           (field("negative_i", 1) != 0 ? 0 - magnitude : magnitude) & ((2U << mac.b_width) - 1)});
    t += offered;
    offered = magnitude + (magnitude == 1 && first && sums.size() > 1);  // not ready beside a result
  }
  Stream s;
  for (const auto& sum : sums) s.every = std::max(s.every, sum.size());
  for (auto& sum : sums) {
    sum.resize(s.every);
    for (const Element& element : sum) {
      s.a.push_back(element.a);
      s.b.push_back(element.b);
    }
  }
  s.cycles = s.a.size();
  return s;
}

Stream read_stream(std::istream& in, const json& header, const json& unit, const MacSpec& mac) {
  std::map<std::string, std::vector<std::string>> columns;
  std::string line, word;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    for (const json& port : header.at("ports")) {
      if (!(words >> word)) throw Error("a line has fewer values than there are ports: " + line);
      columns[port.at("name")].push_back(word);
    }
  }
  std::size_t latest = 0, held = 1;
  for (const json& input : unit.at("inputs")) {
    latest = std::max<std::size_t>(latest, input.value("delay", 0));
    held = std::max<std::size_t>(held, input.value("hold", 1));
  }
  Stream s;
  const std::size_t lines = columns.begin()->second.size();
  if (lines < latest + 2) throw Error("it has " + std::to_string(lines) + " cycles; too few");
  s.cycles = lines - latest;
  const auto lanes = static_cast<std::size_t>(mac.lanes);
  if (mac.structure == Structure::none) return repeated(columns, lines, mac);
  std::vector<std::uint32_t> magnitude, negative;  // of the unsigned split's weights
  for (const auto& [name, input] : unit.at("inputs").items()) {
    if (input.value("sequence", "") == "first") s.every = distance(columns.at(name));
    if (input.contains("part")) {
      const bool is_sign = input.at("part") == "negative";
      for (std::size_t t = 0; t < s.cycles; ++t)
        (is_sign ? negative : magnitude).push_back(fields(columns.at(name)[t], 1, is_sign ? 1 : mac.b_width)[0]);
      continue;
    }
    if (input.contains("every")) s.every = input.at("every");
    if (!input.contains("operand") && !input.contains("scale")) continue;
    const auto& column = columns.at(name);
    const std::size_t delay = input.value("delay", 0);
    const std::size_t hold = input.value("hold", 1);  // the first is taken at once
    const bool is_a = input.value("operand", input.value("scale", "")) == "a";
    for (std::size_t t = 0; t < s.cycles; t += hold) {
      if (input.contains("operand")) {
        const auto codes = fields(column[t + delay], lanes, code_bits(mac, !is_a));
        (is_a ? s.a : s.b).insert((is_a ? s.a : s.b).end(), codes.begin(), codes.end());
      } else {
        const auto codes = fields(column[t + delay], lanes / block_lanes(mac), 8);
        (is_a ? s.a_scale : s.b_scale).insert((is_a ? s.a_scale : s.b_scale).end(), codes.begin(), codes.end());
      }
    }
  }
  for (std::size_t t = 0; t < magnitude.size(); ++t)
    s.b.push_back((negative.at(t) != 0 ? 0 - magnitude[t] : magnitude[t]) & ((2U << mac.b_width) - 1));
  s.cycles = (s.cycles + held - 1) / held;
  return s;
}

/// `is_split`: signed weights, which are Gaussian beside half-normal activations (stimulus.cpp).
OperandStatistics statistics(const std::string& stimulus, const std::vector<std::uint32_t>& codes, int bits,
                             bool is_split = false) {
  if (stimulus == "uniform") return {Distribution::uniform, {}};
  if (stimulus == "gauss" || (stimulus == "half_normal" && is_split)) return {Distribution::gauss, {}};
  if (stimulus == "half_normal") return {Distribution::half_normal, {}};
  if (bits > 16) return {Distribution::gauss, {}};  // FP32: too many codes to count
  auto counts = std::make_shared<std::vector<double>>(std::size_t{1} << bits, 0.0);
  for (const std::uint32_t code : codes) (*counts)[code] += 1;
  return {Distribution::histogram, counts};
}

json to_json(const Features& f) {
  json object = json::object();
  for (std::size_t i = 0; i < feature_count; ++i) object[std::string(feature_names[i])] = f[i];
  return object;
}

json features_of(const std::string& path, const json& units) {
  std::ifstream in(path);
  std::string line;
  if (!in || !std::getline(in, line)) throw Error("cannot be read");
  const json header = json::parse(line);
  for (const json& unit : units.at("units")) {
    if (unit.at("name") != header.at("unit")) continue;
    if (!unit.contains("mac"))
      return {{"unit", header.at("unit")},
              {"stimulus", header.at("stimulus")},
              {"skipped", "it is no multiply-accumulate"}};
    const MacSpec mac = mac_spec_from_json(unit.at("mac"));
    try {
      check_priceable(mac);
    } catch (const Error& error) {
      return {{"unit", header.at("unit")}, {"stimulus", header.at("stimulus")}, {"skipped", error.what()}};
    }
    const Stream s = read_stream(in, header, unit, mac);
    const std::string stimulus = header.at("stimulus");
    return {
        {"unit", header.at("unit")},
        {"stimulus", stimulus},
        {"L0", to_json(features({mac, statistics(stimulus, s.a, code_bits(mac, false)),
                                 statistics(stimulus, s.b, code_bits(mac, true), mac.schedule != Schedule::plain)}))},
        {"L1", to_json(features_counted(mac, {s.cycles, s.a, s.b, s.a_scale, s.b_scale, s.every}))}};
  }
  throw Error("unit " + header.at("unit").dump() + " is not in the file of units");
}

}  // namespace

int main(int argc, char** argv) {
  std::string units;
  std::vector<std::string> files;
  CLI::App app{"Features of rungs L0 and L1 on .stim files, as JSON lines."};
  app.add_option("--units", units, "power/units.json, or a file like it")->required();
  app.add_option("files", files, ".stim files")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const json all = narrowgauge::io::read_json(units);
    for (const std::string& file : files) {
      try {
        std::cout << features_of(file, all).dump() << '\n';
      } catch (const std::exception& error) {
        throw Error(file + ": " + error.what());
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ng_features: " << error.what() << '\n';
    return 2;
  }
}
