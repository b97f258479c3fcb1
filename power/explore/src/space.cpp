// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/explore/space.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "features/text.hpp"
#include "gauge/data.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::power {
namespace {

using Json = nlohmann::json;

// Accumulators: exact sums of 65536 beats in ng_tile, FP32 and 32 bits in what has no tile.
constexpr NumberFormat formats[] = {
    {"nvfp4", MacFormat::nvfp4, 4, 4, 16, 3, 64, 0, true},
    {"fp8_e4m3", MacFormat::fp8_e4m3, 8, 8, 0, 2, 57, 0, true},
    {"fp8_e5m2", MacFormat::fp8_e5m2, 8, 8, 0, 2, 85, 0, true},
    {"luq", MacFormat::fp4_e3m0, 4, 4, 0, 2, 31, 0, true},  // A: INT4
    {"mxfp4", MacFormat::mxfp4, 4, 4, 32, 3, 32, 32, false},
    {"int4", MacFormat::integer, 4, 4, 0, 2, 32, 0, false},
    {"int8", MacFormat::integer, 8, 8, 0, 2, 32, 0, false},
    {"bf16", MacFormat::bf16, 16, 16, 0, 3, 32, 1, false},
    {"fp16", MacFormat::fp16, 16, 16, 0, 3, 32, 1, false},
    {"tf32", MacFormat::tf32, 19, 32, 0, 3, 32, 1, false},  // FP32 words in memory
    {"fp32", MacFormat::fp32, 32, 32, 0, 3, 32, 1, false},
};
constexpr std::array<std::string_view, 3> sparsities{"none", "2:4", "4:8pair"};
constexpr std::array<std::string_view, 2> residents{"maps", "weights"};
constexpr std::array<std::string_view, 4> results{"fp32", "bf16", "fp8", "nvfp4"};
constexpr std::array<std::string_view, objective_count> objectives{"energy", "cycles", "time",
                                                                   "area",   "sqnr",   "energy_delay"};
constexpr std::size_t longest_axis = 100'000;

[[noreturn]] void refuse(const std::string& key, const Json& value, const std::string& allowed) {
  throw Error("the space's \"" + key + "\" is " + brief(value) + "; allowed: " + allowed);
}

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

struct Range {
  double least, most;
  bool whole, power_of_two;
  std::string text() const {
    const auto number = [](double x) {
      return Json(x == std::floor(x) ? Json(static_cast<std::int64_t>(x)) : Json(x)).dump();
    };
    return std::string(power_of_two ? "powers of two"
                       : whole      ? "whole numbers"
                                    : "numbers") +
           " from " + number(least) + " to " + number(most);
  }
  bool has(double x) const {
    return x >= least && x <= most && (!whole || x == std::floor(x)) &&
           (!power_of_two || std::has_single_bit(static_cast<std::uint64_t>(x)));
  }
};

// The values of an axis as it stands in the space: one, a list, or a range.
std::vector<Json> values_of(const std::string& key, const Json& json, const std::string& allowed) {
  if (json.is_array()) {
    if (json.empty()) refuse(key, json, "a list of one or more of " + allowed);
    return json;
  }
  if (!json.is_object()) return {json};
  const std::string range =
      "{from, to, step} or {from, to, factor} with from <= to, step > 0, factor > 1, of " + allowed;
  for (const auto& [name, value] : json.items()) {
    if (name != "from" && name != "to" && name != "step" && name != "factor") refuse(key, json, range);
    if (!value.is_number()) refuse(key, json, range);
  }
  if (!json.contains("from") || !json.contains("to") || json.contains("step") == json.contains("factor"))
    refuse(key, json, range);
  const double from = json["from"], to = json["to"];
  const bool steps = json.contains("step");
  const double by = steps ? json["step"].get<double>() : json["factor"].get<double>();
  if (!(from <= to) || !(steps ? by > 0 : by > 1 && from > 0)) refuse(key, json, range);
  std::vector<Json> values;
  // Each from the start, so that rounding does not add up.
  for (std::size_t i = 0;; ++i) {
    const double x = steps ? from + static_cast<double>(i) * by : from * std::pow(by, static_cast<double>(i));
    if (x > to * (1 + 1e-12)) break;
    if (i == longest_axis) refuse(key, json, "ranges of at most " + std::to_string(longest_axis) + " values");
    values.emplace_back(x);
  }
  return values;
}

template <class T>
std::vector<T> numbers(const std::string& key, const Json& json, const Range& range) {
  std::vector<T> axis;
  for (const Json& value : values_of(key, json, range.text())) {
    if (!value.is_number() || !range.has(value.get<double>())) refuse(key, value, range.text());
    const T number = static_cast<T>(value.get<double>());
    if (std::find(axis.begin(), axis.end(), number) != axis.end()) refuse(key, value, "each value once");
    axis.push_back(number);
  }
  return axis;
}

// Each value's place among `names`.
template <class Names>
std::vector<std::size_t> choices(const std::string& key, const Json& json, const Names& names) {
  std::vector<std::size_t> axis;
  for (const Json& value : values_of(key, json, listed(names))) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) refuse(key, value, listed(names));
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (std::find(axis.begin(), axis.end(), index) != axis.end()) refuse(key, value, "each value once");
    axis.push_back(index);
  }
  return axis;
}

std::vector<std::string> names_in(const std::string& key, const Json& json) {
  std::vector<std::string> names;
  for (const Json& value : values_of(key, json, "names")) {
    if (!value.is_string() || value.get<std::string>().empty()) refuse(key, value, "names");
    if (std::find(names.begin(), names.end(), value.get<std::string>()) != names.end())
      refuse(key, value, "each value once");
    names.push_back(value);
  }
  return names;
}

using Setters = std::map<std::string, void (*)(Space&, const Json&)>;

void apply(const std::string& what, const Json& json, Space& space, const Setters& setters) {
  if (!json.is_object()) throw Error(what + " is " + brief(json) + "; expected keys and values");
  for (const auto& [key, value] : json.items()) {
    const auto setter = setters.find(key);
    if (setter == setters.end()) {
      std::vector<std::string> names;
      for (const auto& entry : setters) names.push_back(entry.first);
      throw Error(what + " has the key \"" + io::shown(key) + "\"; allowed are " + listed(names));
    }
    setter->second(space, value);
  }
}

std::string file_name(const std::string& key, const Json& json) {
  if (!json.is_string() || json.get<std::string>().empty()) refuse(key, json, "the name of a .npy file");
  return json;
}

double area(const std::string& key, const Json& json) {
  if (!json.is_number() || !(json.get<double>() >= 0) || json.get<double>() > 1e9)
    refuse(key, json, "numbers from 0 to 1000000000, in squares of the node");
  return json;
}

const Setters tensor_setters{
    {"a", [](Space& s, const Json& j) { s.tensor_a = file_name("tensors.a", j); }},
    {"b", [](Space& s, const Json& j) { s.tensor_b = file_name("tensors.b", j); }},
};
const Setters memory_setters{
    {"sram",
     [](Space& s, const Json& j) {
       const auto names = names_in("memory.sram", j);
       if (names.size() != 1)
         refuse("memory.sram", j, "a table of SRAM, as cacti_7nm or horowitz_45nm (narrowgauge energy --list)");
       s.sram = names[0];
     }},
    {"dram",
     [](Space& s, const Json& j) {
       const auto names = names_in("memory.dram", j);
       if (names.size() != 2)
         refuse("memory.dram", j, "[memory, technology] of power/memory.json, as [hbm2, tpuv4i_7nm]");
       s.dram_memory = names[0];
       s.dram = names[1];
     }},
    {"bandwidth",
     [](Space& s, const Json& j) {
       const Range range{1, 1e15, false, false};
       if (!j.is_number() || !range.has(j.get<double>()))
         refuse("memory.bandwidth", j, range.text() + ", in bytes a second");
       s.bandwidth = j;
     }},
};
const Setters area_setters{
    {"gate", [](Space& s, const Json& j) { s.area.gate = area("area.gate", j); }},
    {"flip_flop", [](Space& s, const Json& j) { s.area.flip_flop = area("area.flip_flop", j); }},
    {"sram_bit", [](Space& s, const Json& j) { s.area.sram_bit = area("area.sram_bit", j); }},
};

constexpr Range sizes_of_arrays{1, 255, true, false}, sizes_of_lanes{2, 255, true, false};
constexpr Range depths{2, 32768, true, true}, widths{32, 1024, true, true};

const Setters setters{
    {"rows", [](Space& s, const Json& j) { s.rows = numbers<int>("rows", j, sizes_of_arrays); }},
    {"cols", [](Space& s, const Json& j) { s.cols = numbers<int>("cols", j, sizes_of_arrays); }},
    {"lanes", [](Space& s, const Json& j) { s.lanes = numbers<int>("lanes", j, sizes_of_lanes); }},
    {"a_depth", [](Space& s, const Json& j) { s.a_depth = numbers<int>("a_depth", j, depths); }},
    {"b_depth", [](Space& s, const Json& j) { s.b_depth = numbers<int>("b_depth", j, depths); }},
    {"stream_width", [](Space& s, const Json& j) { s.stream_width = numbers<int>("stream_width", j, widths); }},
    {"compression",
     [](Space& s, const Json& j) {
       s.compression = numbers<double>("compression", j, {1, 1000, false, false});
     }},
    {"frequency_hz",
     [](Space& s, const Json& j) {
       // "cell": what the record of the point's cell reaches.
       const Range range{1, 1e12, false, false};
       s.frequency_hz.clear();
       for (const Json& value : values_of("frequency_hz", j, range.text() + ", or \"cell\"")) {
         const bool cell = value == "cell";
         if (!cell && (!value.is_number() || !range.has(value.get<double>())))
           refuse("frequency_hz", value, range.text() + ", or \"cell\"");
         const double frequency = cell ? 0 : value.get<double>();
         if (std::find(s.frequency_hz.begin(), s.frequency_hz.end(), frequency) != s.frequency_hz.end())
           refuse("frequency_hz", value, "each value once");
         s.frequency_hz.push_back(frequency);
       }
     }},
    {"global_buffer",
     [](Space& s, const Json& j) {
       s.global_buffer = numbers<double>("global_buffer", j, {0, 1 << 30, true, false});
     }},
    {"result",
     [](Space& s, const Json& j) {
       s.result.clear();
       for (const std::size_t i : choices("result", j, results)) s.result.push_back(static_cast<Result>(i));
     }},
    {"cache",
     [](Space& s, const Json& j) {
       std::vector<std::string_view> names{"array"};
       names.insert(names.end(), results.begin(), results.end());
       s.cache.clear();
       for (const std::size_t i : choices("cache", j, names))
         s.cache.push_back(i == 0 ? std::nullopt : std::optional(static_cast<Result>(i - 1)));
     }},
    {"technology", [](Space& s, const Json& j) { s.technology = names_in("technology", j); }},
    {"format",
     [](Space& s, const Json& j) {
       std::vector<std::string_view> names;
       for (const NumberFormat& format : formats) names.push_back(format.name);
       s.format.clear();
       for (const std::size_t i : choices("format", j, names)) s.format.push_back(&formats[i]);
     }},
    {"resident",
     [](Space& s, const Json& j) {
       s.resident.clear();
       for (const std::size_t i : choices("resident", j, residents)) s.resident.push_back(static_cast<Resident>(i));
     }},
    {"sparsity",
     [](Space& s, const Json& j) {
       s.sparsity.clear();
       for (const std::size_t i : choices("sparsity", j, sparsities)) s.sparsity.push_back(static_cast<Sparsity>(i));
     }},
    {"objectives",
     [](Space& s, const Json& j) {
       s.objectives.clear();
       for (const std::size_t i : choices("objectives", j, objectives))
         s.objectives.push_back(static_cast<Objective>(i));
     }},
    {"tensors", [](Space& s, const Json& j) { apply("the space's \"tensors\"", j, s, tensor_setters); }},
    {"mac_energy_j",
     [](Space& s, const Json& j) {
       if (!j.is_object()) refuse("mac_energy_j", j, "a format and joules, or several");
       for (const auto& [key, value] : j.items()) {
         std::vector<std::string_view> names;
         for (const NumberFormat& format : formats) names.push_back(format.name);
         if (std::find(names.begin(), names.end(), key) == names.end()) refuse("mac_energy_j", key, listed(names));
         if (!value.is_number() || !(value.get<double>() > 0) || value.get<double>() > 1)
           refuse("mac_energy_j", value, "numbers above 0, up to 1, in joules");
         s.mac_energy_j[key] = value;
       }
     }},
    {"memory", [](Space& s, const Json& j) { apply("the space's \"memory\"", j, s, memory_setters); }},
    {"area", [](Space& s, const Json& j) { apply("the space's \"area\"", j, s, area_setters); }},
};

}  // namespace

std::span<const NumberFormat> number_formats() { return formats; }
std::string_view name(Sparsity sparsity) { return sparsities[static_cast<std::size_t>(sparsity)]; }
std::string_view name(Resident resident) { return residents[static_cast<std::size_t>(resident)]; }
std::string_view name(Result result) { return results[static_cast<std::size_t>(result)]; }
double result_bits(Result result) {
  static constexpr std::array bits{32.0, 16.0, 8.0, 4.5};
  return bits[static_cast<std::size_t>(result)];
}
std::string_view name(Objective objective) { return objectives[static_cast<std::size_t>(objective)]; }

std::array<std::size_t, Space::axes> Space::sizes() const {
  return {rows.size(),         cols.size(),          lanes.size(),    a_depth.size(),     b_depth.size(),
          stream_width.size(), global_buffer.size(), resident.size(), cache.size(),       sparsity.size(),
          format.size(),       technology.size(),    result.size(),   compression.size(), frequency_hz.size()};
}

std::uint64_t Space::points() const {
  std::uint64_t points = 1;
  for (const std::size_t size : sizes()) {
    if (size != 0 && points > (std::uint64_t{1} << 53) / size)
      throw Error("the space has more than 2^53 points: shorten its axes");
    points *= size;
  }
  return points;
}

std::array<std::size_t, Space::axes> Space::place(std::uint64_t point) const {
  std::array<std::size_t, axes> at = sizes();
  for (std::size_t axis = axes; axis-- > 0;) {
    const std::uint64_t size = at[axis];
    at[axis] = point % size;
    point /= size;
  }
  return at;
}

TileShape tile_shape(const NumberFormat& format, Sparsity sparsity, Resident resident, int rows, int cols, int lanes,
                     int a_depth, int b_depth, int stream_width) {
  const bool sparse = sparsity != Sparsity::none;
  const int elements = sparse ? 2 * lanes : lanes;  // of a contraction in a beat
  // A scale of NVFP4 covers twice the elements of a sparse product.
  const int scaled = format.mac == MacFormat::nvfp4 ? lanes : elements;
  const int scales = format.scale_block ? (scaled + format.scale_block - 1) / format.scale_block * 8 : 0;
  // Half of the weights are kept, each with two bits that say which it is.
  const int dense_bits = elements * format.bits + scales;
  const int weight_bits = lanes * (format.bits + (sparse ? 2 : 0)) + scales;
  const bool weights_first = resident == Resident::weights;
  return {.rows = rows,
          .cols = cols,
          .lanes = elements,
          .a_row_bits = weights_first ? weight_bits : dense_bits,
          .b_col_bits = weights_first ? dense_bits : weight_bits,
          .stages = format.stages,
          .stream_width = stream_width,
          .a_depth = a_depth,
          .b_depth = b_depth,
          .turns = format.mac != MacFormat::mxfp4};
}

AreaAssumptions AreaAssumptions::of(const std::string& technology) const {
  const auto file = [](const std::string& name) {
    const Json json = embedded_json("technologies/" + name + ".json");
    return json.is_null() ? Json::object() : json;
  };
  const Json own = file(file(technology).value("cells", technology)).value("area", Json::object());
  const Json usual = file("osu018").at("area");
  const auto pick = [&](double given, const char* key) {
    return given != 0 ? given : own.value(key, usual.at(key).get<double>());
  };
  return {pick(gate, "gate"), pick(flip_flop, "flip_flop"), pick(sram_bit, "sram_bit")};
}

Space space_from_json(const Json& json) {
  if (deeper_than(json, 4)) throw Error("the space has lists or objects too deep in each other; expected 4 at most");
  Space space;
  apply("the space", json, space, setters);
  for (const auto& [key, empty] : {std::pair{"format", space.format.empty()}, {"technology", space.technology.empty()}})
    if (empty) throw Error("the space has no \"" + std::string(key) + "\"; give one or more");
  if (space.tensor_a.empty() != space.tensor_b.empty())
    throw Error("the space's \"tensors\" has one of a and b; expected both, or no tensors");
  space.points();  // not too many
  return space;
}

nlohmann::ordered_json to_json(const Space& space) {
  nlohmann::ordered_json json;
  json["rows"] = space.rows;
  json["cols"] = space.cols;
  json["lanes"] = space.lanes;
  json["a_depth"] = space.a_depth;
  json["b_depth"] = space.b_depth;
  json["stream_width"] = space.stream_width;
  json["global_buffer"] = space.global_buffer;
  for (const Resident resident : space.resident) json["resident"].push_back(name(resident));
  for (const Sparsity sparsity : space.sparsity) json["sparsity"].push_back(name(sparsity));
  for (const NumberFormat* format : space.format) json["format"].push_back(format->name);
  json["technology"] = space.technology;
  for (const auto& cache : space.cache) json["cache"].push_back(cache ? name(*cache) : "array");
  for (const Result result : space.result) json["result"].push_back(name(result));
  json["compression"] = space.compression;
  for (const double frequency : space.frequency_hz)
    json["frequency_hz"].push_back(frequency == 0 ? nlohmann::ordered_json("cell") : nlohmann::ordered_json(frequency));
  for (const Objective objective : space.objectives) json["objectives"].push_back(name(objective));
  if (!space.tensor_a.empty()) json["tensors"] = {{"a", space.tensor_a}, {"b", space.tensor_b}};
  if (!space.sram.empty()) json["memory"]["sram"] = space.sram;
  if (!space.dram.empty()) json["memory"]["dram"] = {space.dram_memory, space.dram};
  if (space.bandwidth != 0) json["memory"]["bandwidth"] = space.bandwidth;
  if (!space.mac_energy_j.empty()) json["mac_energy_j"] = space.mac_energy_j;
  json["area"] = nlohmann::ordered_json::object();  // what the space says itself
  for (const auto& [key, value] : {std::pair("gate", space.area.gate), std::pair("flip_flop", space.area.flip_flop),
                                   std::pair("sram_bit", space.area.sram_bit)})
    if (value != 0) json["area"][key] = value;
  return json;
}

}  // namespace narrowgauge::power
