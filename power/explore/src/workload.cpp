// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/explore/workload.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "features/text.hpp"
#include "gauge/data.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/json.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/power/explore/workload_formats.hpp"

namespace narrowgauge::power {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t most = 0x7FFFFFFF;

std::string keys(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void check_keys(const Json& json, const std::string& what, const std::set<std::string>& allowed) {
  if (!json.is_object()) throw Error(what + " is " + json.dump().substr(0, 60) + "; expected an object");
  for (const auto& [key, value] : json.items())
    if (!allowed.contains(key))
      throw Error(what + " has the key \"" + io::shown(key) + "\"; allowed are " + keys(allowed));
}

class Reader {
 public:
  Reader(const Json& json, std::string what, const std::map<std::string, std::int64_t>& parameters)
      : json_(json), what_(std::move(what)), parameters_(parameters) {}

  std::int64_t size(const char* key, std::int64_t least = 1) const {
    if (!json_.contains(key)) throw Error(what_ + " has no \"" + key + "\"; expected a size");
    return value(key, json_[key], least);
  }
  std::int64_t size_or(const char* key, std::int64_t otherwise, std::int64_t least = 1) const {
    return json_.contains(key) ? value(key, json_[key], least) : otherwise;
  }
  /// A number for each of two axes, height and width, or of three, with depth in front.
  std::vector<std::int64_t> each(const char* key, std::size_t axes, std::int64_t otherwise, std::int64_t least) const {
    if (!json_.contains(key)) return std::vector<std::int64_t>(axes, otherwise);
    const Json& list = json_[key];
    if (!list.is_array() || list.size() != axes)
      fail(key, list, axes == 2 ? "[height, width]" : "[depth, height, width], as the layer has a \"depth\"");
    std::vector<std::int64_t> values;
    for (const Json& one : list) values.push_back(value(key, one, least));
    return values;
  }

 private:
  [[noreturn]] void fail(const char* key, const Json& value, const std::string& expected) const {
    throw Error(what_ + ": \"" + key + "\" is " + value.dump().substr(0, 60) + "; expected " + expected);
  }
  std::int64_t value(const char* key, const Json& json, std::int64_t least) const {
    const std::string range = "a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                              " or one of the parameters" +
                              (parameters_.empty() ? std::string(", of which there are none") : "") +
                              ", or a list of these, to be multiplied";
    std::int64_t number = 0;
    if (json.is_array() && !json.empty()) {
      number = 1;
      for (const Json& factor : json) {
        const std::int64_t by = factor.is_array() ? 0 : value(key, factor, 1);
        if (by == 0 || number > most / by) fail(key, json, range);
        number *= by;
      }
    } else if (json.is_string()) {
      const auto found = parameters_.find(json.get<std::string>());
      if (found == parameters_.end()) fail(key, json, range);
      number = found->second;
    } else if (json.is_number_integer()) {
      number = json.get<std::int64_t>();
    } else {
      fail(key, json, range);
    }
    if (number < least || number > most) fail(key, json, range);
    return number;
  }

  const Json& json_;
  std::string what_;
  const std::map<std::string, std::int64_t>& parameters_;
};

std::int64_t product(std::int64_t x, std::int64_t y, const std::string& what) {
  if (x > most / y) throw Error(what + ": a size of its product is above " + std::to_string(most));
  return x * y;
}

Layer layer_from_json(const Json& json, std::size_t index, const std::map<std::string, std::int64_t>& parameters) {
  std::string what = "layer " + std::to_string(index);
  if (!json.is_object()) throw Error(what + " is " + json.dump().substr(0, 60) + "; expected an object");
  Layer layer;
  layer.name = json.contains("name") && json["name"].is_string() ? json["name"].get<std::string>() : what;
  if (layer.name != what) what += " (" + io::shown(layer.name) + ")";
  const std::string op = json.contains("op") && json["op"].is_string() ? json["op"].get<std::string>() : "";
  const Reader read(json, what, parameters);
  if (op == "gemm") {
    check_keys(json, what, {"op", "name", "m", "n", "k", "batch", "count", "weights", "cache"});
    layer.gemm = {read.size("m"), read.size("n"), read.size("k")};
    layer.count = product(read.size_or("batch", 1), read.size_or("count", 1), what);
    if (json.contains("weights")) {
      if (!json["weights"].is_boolean())
        throw Error(what + ": \"weights\" is " + json["weights"].dump() + "; expected true or false");
      layer.weights = json["weights"];
    }
    if (json.contains("cache")) {
      const bool reads = json["cache"] == "read";
      if (!reads && json["cache"] != "write")
        throw Error(what + ": \"cache\" is " + json["cache"].dump().substr(0, 60) + "; expected \"read\" or \"write\"");
      if (reads && layer.weights)
        throw Error(what + ": \"cache\" is \"read\" and operand B is weights; expected \"weights\": false beside it");
      layer.cache = reads ? CacheUse::read : CacheUse::write;
    }
  } else if (op == "conv") {
    check_keys(json, what,
               {"op", "name", "in_channels", "out_channels", "depth", "height", "width", "kernel", "stride", "padding",
                "dilation", "groups", "images", "count"});
    const std::int64_t inputs = read.size("in_channels"), outputs = read.size("out_channels");
    const std::int64_t groups = read.size_or("groups", 1);
    if (inputs % groups != 0 || outputs % groups != 0) {
      throw Error(what + ": \"groups\" is " + std::to_string(groups) + "; expected a divisor of in_channels (" +
                  std::to_string(inputs) + ") and out_channels (" + std::to_string(outputs) + ")");
    }
    std::vector<std::int64_t> in{read.size("height"), read.size("width")};
    if (json.contains("depth")) in.insert(in.begin(), read.size("depth"));
    if (!json.contains("kernel")) throw Error(what + " has no \"kernel\"; expected its sizes");
    const auto kernel = read.each("kernel", in.size(), 1, 1), stride = read.each("stride", in.size(), 1, 1);
    const auto padding = read.each("padding", in.size(), 0, 0), dilation = read.each("dilation", in.size(), 1, 1);
    std::int64_t pixels = read.size_or("images", 1), window = inputs / groups;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::int64_t span = in[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
      if (span < 0) {
        throw Error(what + ": its window of " + std::to_string(kernel[i]) + " does not fit into " +
                    std::to_string(in[i]) + " pixels with a padding of " + std::to_string(padding[i]) +
                    "; expected a window that fits");
      }
      pixels = product(pixels, span / stride[i] + 1, what);
      window = product(window, kernel[i], what);
    }
    layer.gemm = {pixels, outputs / groups, window};
    layer.count = product(groups, read.size_or("count", 1), what);
  } else {
    throw Error(what + ": \"op\" is " + (json.contains("op") ? json["op"].dump() : "missing") +
                "; expected \"gemm\" or \"conv\"");
  }
  return layer;
}

}  // namespace

Workload workload_from_json(const Json& json, const std::map<std::string, std::int64_t>& set) {
  if (deeper_than(json, 4)) throw Error("the workload has lists or objects too deep in each other; expected 4 at most");
  check_keys(json, "the workload", {"name", "what", "source", "parameters", "tokens", "layers"});
  Workload workload;
  for (const char* const key : {"name", "what"}) {
    if (json.contains(key) && !json[key].is_string())
      throw Error(std::string("the workload's \"") + key + "\" is " + json[key].dump().substr(0, 60) +
                  "; expected text");
  }
  workload.name = json.value("name", "");
  workload.what = json.value("what", "");
  if (json.contains("parameters")) {
    for (const auto& [name, value] : json["parameters"].items()) {
      if (!value.is_number_integer() || value < 1 || value > most)
        throw Error("parameter " + name + " of the workload is " + value.dump() + "; expected a whole number from 1");
      workload.parameters[name] = value;
    }
  }
  for (const auto& [name, value] : set) {
    const auto found = workload.parameters.find(name);
    if (found == workload.parameters.end()) {
      std::set<std::string> names;
      for (const auto& entry : workload.parameters) names.insert(entry.first);
      throw Error("the workload has no parameter \"" + name + "\" to set" +
                  (names.empty() ? ": it has none" : "; it has " + keys(names)));
    }
    if (value < 1 || value > most)
      throw Error("parameter " + name + " is set to " + std::to_string(value) + "; expected 1 to " +
                  std::to_string(most));
    found->second = value;
  }
  if (json.contains("tokens"))
    workload.tokens = static_cast<double>(Reader(json, "the workload", workload.parameters).size("tokens"));
  if (!json.contains("layers") || !json["layers"].is_array() || json["layers"].empty())
    throw Error("the workload has no \"layers\"; expected a list of one or more");
  for (std::size_t i = 0; i < json["layers"].size(); ++i)
    workload.layers.push_back(layer_from_json(json["layers"][i], i, workload.parameters));
  return workload;
}

namespace {

constexpr std::string_view folder = "workloads/", suffix = ".json";

std::string carried(const std::string& name) {
  for (const DataFile& file : embedded_data())
    if (file.path == std::string(folder) + name + std::string(suffix)) return std::string(file.text);
  return {};
}

}  // namespace

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const DataFile& file : embedded_data()) {
    if (!file.path.starts_with(folder)) continue;
    names.emplace_back(file.path.substr(folder.size(), file.path.size() - folder.size() - suffix.size()));
  }
  return names;
}

Workload load_workload(const std::filesystem::path& file, const std::map<std::string, std::int64_t>& set) {
  const std::string name = io::shown(file.string());
  std::string text = carried(file.string());
  if (text.empty() || std::filesystem::is_regular_file(file)) {
    try {
      text = io::read_text(file.string());
    } catch (const io::Error& error) {
      const std::vector<std::string> names = workload_names();
      throw Error("The workload " + name + " cannot be read (" + error.what() +
                  "), and is none of those that come along: " + keys({names.begin(), names.end()}));
    }
  }
  try {
    const bool topology = file.extension() == ".csv";
    Workload workload =
        workload_from_json(topology ? workload_from_scalesim(text) : io::parse_json(text, "The workload"), set);
    if (workload.name.empty()) workload.name = io::shown(file.stem().string());
    return workload;
  } catch (const Json::exception& error) {
    throw Error("The workload " + name + " is not the JSON that it should be: " + error.what());
  } catch (const io::Error& error) {
    throw Error(name + ": " + error.what());
  } catch (const Error& error) {
    throw Error(name + ": " + error.what());
  }
}

}  // namespace narrowgauge::power
