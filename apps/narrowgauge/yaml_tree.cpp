// SPDX-License-Identifier: Apache-2.0
#include "yaml_tree.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>

#include "narrowgauge/error.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::cli {
namespace {

constexpr int most_nodes = 1'000'000;

/// The text, which JSON can hold only as UTF-8: yaml-cpp passes other bytes on.
const std::string& checked(const std::string& text) {
  if (io::utf8(text) != text) throw Error("it has the text \"" + io::shown(text) + "\"; expected UTF-8");
  return text;
}

/// `most` nodes may follow.
nlohmann::json json_of(const YAML::Node& node, int levels, int& most) {
  if (levels == 0 || most-- == 0)
    throw Error("it is too deep or too long, or an alias in it has no end; expected a space or a workload");
  switch (node.Type()) {
    case YAML::NodeType::Map: {
      nlohmann::json json = nlohmann::json::object();
      for (const auto& entry : node) {
        const std::string key = checked(entry.first.as<std::string>());
        if (json.contains(key)) throw Error("it has the key \"" + io::shown(key) + "\" twice");
        json[key] = json_of(entry.second, levels - 1, most);
      }
      return json;
    }
    case YAML::NodeType::Sequence: {
      nlohmann::json json = nlohmann::json::array();
      for (const auto& entry : node) json.push_back(json_of(entry, levels - 1, most));
      return json;
    }
    case YAML::NodeType::Scalar: {
      const std::string& text = checked(node.Scalar());
      if (node.Tag() == "!") return text;  // quoted
      double number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error == std::errc() && end == text.data() + text.size() && std::isfinite(number)) return number;
      return text;
    }
    default:
      return nullptr;
  }
}

}  // namespace

nlohmann::json parse_yaml(const std::string& text, int levels) {
  try {
    int most = most_nodes;
    return json_of(YAML::Load(text), levels, most);
  } catch (const YAML::Exception& error) {
    throw Error("it is not YAML: " + io::shown(error.what()) + "; expected a space or a workload");
  }
}

}  // namespace narrowgauge::cli
