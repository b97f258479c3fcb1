// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/explore/workload_formats.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "features/text.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::power {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

constexpr std::int64_t most = 0x7FFFFFFF;
const std::string a_size = "a whole number from 1 to " + std::to_string(most);

/// For a sentence, shortened.
std::string in_quotes(std::string_view text) { return '"' + io::shown(text.substr(0, 60)) + '"'; }

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + io::shown(name);
  return text.substr(0, 200);
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

std::int64_t product(std::int64_t x, std::int64_t y, const std::string& what) {
  if (x > most / y)
    throw Error(what + " has a product of sizes above " + std::to_string(most) + "; expected at most that");
  return x * y;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || rest != end || value < 1 || value > most) return {};
  return value;
}

// ---- SCALE-Sim

/// A line's fields, without blanks around them; a comma at the end has no field behind it.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
  return fields;
}

/// Names of columns as they are compared: small letters, without blanks and underscores.
std::string column_key(std::string_view name) {
  std::string key = lower(name);
  std::erase_if(key, [](char c) { return c == ' ' || c == '_' || c == '\t'; });
  return key;
}

struct Topology {
  bool gemm = false;
  Names columns;  ///< keys of all
};

struct ColumnName {
  const char* shown;
  std::vector<std::string> keys;
};
const std::vector<ColumnName> conv_columns{{"IFMAP Height", {"ifmapheight", "ifmaph"}},
                                           {"IFMAP Width", {"ifmapwidth", "ifmapw"}},
                                           {"Filter Height", {"filterheight", "filterh"}},
                                           {"Filter Width", {"filterwidth", "filterw"}},
                                           {"Channels", {"channels", "channel", "numchannels"}},
                                           {"Num Filter", {"numfilter", "numfilters"}},
                                           {"Strides", {"strides", "stride", "strideheight", "strideh"}}};
const std::vector<ColumnName> gemm_columns{{"M", {"m"}}, {"N", {"n"}}, {"K", {"k"}}};

constexpr const char* layouts =
    "\"Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides\" or "
    "\"Layer, M, N, K\", with Sparsity behind it or not";

Topology topology_of(const std::vector<std::string_view>& names) {
  Topology topology;
  for (const std::string_view name : names) topology.columns.push_back(column_key(name));
  const auto starts = [&](const std::vector<ColumnName>& columns) {
    const auto& keys = columns[0].keys;
    return topology.columns.size() > 1 && std::find(keys.begin(), keys.end(), topology.columns[1]) != keys.end();
  };
  topology.gemm = starts(gemm_columns);
  if (!topology.gemm && !starts(conv_columns)) {
    throw Error("line 1 has as second column " + (names.size() < 2 ? std::string("none") : in_quotes(names[1])) +
                "; expected the first line of a SCALE-Sim topology, " + layouts);
  }
  const std::vector<ColumnName>& columns = topology.gemm ? gemm_columns : conv_columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& keys = columns[i].keys;
    if (i + 1 >= topology.columns.size() ||
        std::find(keys.begin(), keys.end(), topology.columns[i + 1]) == keys.end()) {
      throw Error("line 1 has as column " + std::to_string(i + 2) + " " +
                  (i + 1 < names.size() ? in_quotes(names[i + 1]) : std::string("none")) + "; expected " +
                  columns[i].shown + ", as in " + layouts);
    }
  }
  std::set<std::string> seen;
  for (std::size_t i = columns.size() + 1; i < topology.columns.size(); ++i) {
    const std::string& key = topology.columns[i];
    const bool stride = !topology.gemm && (key == "stridewidth" || key == "stridew");
    const bool batch = topology.gemm && key == "batch";
    if ((!stride && !batch && key != "sparsity" && key != "sparsityratio") || !seen.insert(key).second) {
      throw Error("line 1 has as column " + std::to_string(i + 1) + " " + in_quotes(names[i]) +
                  "; expected Sparsity or " + (topology.gemm ? "Batch" : "Stride Width") + ", once");
    }
  }
  return topology;
}

/// "N:M", or 1 for all: whether some weights are zero.
bool sparse(std::string_view text, const std::string& where) {
  if (text == "1" || text.empty()) return false;
  const std::size_t colon = text.find(':');
  const auto kept = colon == std::string_view::npos ? std::nullopt : number(trimmed(text.substr(0, colon)));
  const auto of = colon == std::string_view::npos ? std::nullopt : number(trimmed(text.substr(colon + 1)));
  if (!kept || !of || *kept > *of)
    throw Error(where + "column Sparsity is " + in_quotes(text) + "; expected N:M with N from 1 to M, as 2:4");
  return *kept < *of;
}

}  // namespace

Json workload_from_scalesim(std::string_view csv) {
  std::optional<Topology> topology;
  Json layers = Json::array();
  std::vector<std::string_view> names;
  std::size_t line_number = 0, sparse_layers = 0;
  if (csv.starts_with("\xEF\xBB\xBF")) csv.remove_prefix(3);
  while (!csv.empty()) {
    const std::size_t end = csv.find('\n');
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    ++line_number;
    line = line.substr(0, line.find('#'));
    const std::vector<std::string_view> fields = fields_of(line);
    if (fields.empty()) continue;
    if (!topology) {
      topology = topology_of(fields);
      names = fields;
      continue;
    }
    const std::string where = "line " + std::to_string(line_number) + ": ";
    const std::size_t needed = topology->gemm ? 4 : 8;
    if (fields.size() < needed || fields.size() > names.size()) {
      throw Error(where + "it has " + std::to_string(fields.size()) + " fields, " + in_quotes(trimmed(line)) +
                  "; expected " + std::to_string(needed) +
                  (names.size() > needed ? " to " + std::to_string(names.size()) : std::string()) +
                  " as the first line has");
    }
    const auto size = [&](std::size_t column) {
      const auto value = number(fields[column]);
      if (!value)
        throw Error(where + "column " + io::shown(names[column]) + " is " + in_quotes(fields[column]) + "; expected " +
                    a_size);
      return *value;
    };
    std::optional<std::int64_t> stride_width;
    std::int64_t count = 1;
    for (std::size_t i = needed; i < fields.size(); ++i) {
      const std::string& key = topology->columns[i];
      if (key == "batch") {
        count = size(i);
      } else if (key.starts_with("stride")) {
        stride_width = size(i);
      } else {
        sparse_layers += sparse(fields[i], where);
      }
    }
    const std::string name = io::utf8(fields[0]);
    Json layer{{"op", "gemm"}, {"name", name}};
    if (topology->gemm) {
      layer.update({{"m", size(1)}, {"n", size(2)}, {"k", size(3)}});
    } else {
      const std::array<std::int64_t, 2> strides{size(7), stride_width.value_or(size(7))};
      std::int64_t pixels = 1, window = 1;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::int64_t map = size(1 + axis), filter = size(3 + axis), stride = strides[axis];
        if (filter > map) {
          throw Error(where + "column " + io::shown(names[3 + axis]) + " is " + std::to_string(filter) +
                      "; expected at most column " + io::shown(names[1 + axis]) + ", which is " + std::to_string(map));
        }
        pixels = product(pixels, (map - filter + stride - 1) / stride + 1, where + "the layer");
        window = product(window, filter, where + "the layer");
      }
      if (name.find("DP") != std::string::npos) {
        count = size(5);
      } else {
        window = product(window, size(5), where + "the layer");
      }
      layer.update({{"m", pixels}, {"n", size(6)}, {"k", window}});
    }
    if (count > 1) layer[topology->gemm ? "batch" : "count"] = count;
    layers.push_back(std::move(layer));
  }
  if (!topology) throw Error(std::string("there is no line in it; expected a SCALE-Sim topology, ") + layouts);
  if (layers.empty()) throw Error("there are no layers behind the first line; expected one or more");
  std::string what = "from SCALE-Sim, " + std::to_string(layers.size()) + (layers.size() == 1 ? " layer" : " layers");
  if (sparse_layers != 0)
    what += "; the sparsity of " + std::to_string(sparse_layers) + " of them is left to the axis of the space";
  return {{"name", ""}, {"what", what}, {"layers", std::move(layers)}};
}

// ---- loops and the operands that they index

namespace {

/// A layer as its loops: each operand by the loops that index it.
struct Nest {
  std::string what;  ///< of the layer, for a sentence
  std::map<std::string, std::int64_t> sizes;
  std::set<std::string> left, right, result;
};

/// The matrix product of the loops, or nothing where they multiply element by element.
std::optional<Json> product_of(const Nest& nest) {
  std::int64_t m = 1, n = 1, k = 1, count = 1;
  bool elementwise = true;
  for (const auto& [name, size] : nest.sizes) {
    const bool left = nest.left.contains(name), right = nest.right.contains(name), result = nest.result.contains(name);
    std::int64_t* const into = left && right     ? (result ? &count : &k)
                               : result && left  ? &m
                               : result && right ? &n
                                                 : nullptr;
    if (!into) {
      throw Error(nest.what + ": loop " + in_quotes(name) + " indexes " +
                  (left || right ? "one operand and not the result"
                   : result      ? "the result and no operand"
                                 : "neither operand nor result") +
                  "; expected loops of at least two of the three, as a matrix product or a convolution has");
    }
    elementwise = elementwise && into == &count;
    *into = product(*into, size, nest.what);
  }
  if (elementwise) return {};
  Json layer{{"op", "gemm"}, {"m", m}, {"n", n}, {"k", k}};
  if (count > 1) layer["count"] = count;
  return layer;
}

[[noreturn]] void fail(const std::string& what, const std::string& key, const Json& value,
                       const std::string& expected) {
  throw Error(what + ": \"" + io::shown(key) + "\" is " + brief(value) + "; expected " + expected);
}

const Json& member(const Json& object, const std::string& what, std::string_view key, std::string_view expected) {
  const auto found = object.find(std::string(key));
  if (found == object.end())
    throw Error(what + " has no \"" + std::string(key) + "\"; expected " + std::string(expected));
  return *found;
}

/// A whole number, floating point or not.
std::optional<std::int64_t> whole(const Json& value) {
  if (!value.is_number()) return {};
  const auto real = value.get<double>();
  if (real < 1 || real > static_cast<double>(most) || real != std::floor(real)) return {};
  return static_cast<std::int64_t>(real);
}

std::int64_t size_of(const Json& value, const std::string& what, const std::string& key) {
  const auto size = whole(value);
  if (!size) fail(what, key, value, a_size);
  return *size;
}

/// Names, each once.
Names names_of(const Json& list, const std::string& what, const std::string& key) {
  if (!list.is_array() || list.empty()) fail(what, key, list, "a list of names");
  Names names;
  for (const Json& name : list) {
    if (!name.is_string() || name.get_ref<const std::string&>().empty()) fail(what, key, name, "a name");
    names.push_back(name);
    if (std::count(names.begin(), names.end(), names.back()) != 1) fail(what, key, name, "each name once");
  }
  return names;
}

/// A label may read as a number.
std::string label_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_structured() || found->is_null()) return {};
  if (found->is_string()) return io::utf8(found->get<std::string>());
  const auto size = whole(*found);
  return size ? std::to_string(*size) : found->is_number() && *found == 0 ? "0" : brief(*found);
}

// ---- ZigZag

std::string upper(std::string_view text) {
  std::string large(text);
  for (char& c : large)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return large;
}

struct Operand {
  std::string name;
  Names loops;  ///< in capitals
};

/// `O[b][k]+=I[b][c]*W[c][k]`: operands and the signs between them.
struct Equation {
  std::vector<Operand> operands;
  Names signs;
};

Equation equation_of(const Json& json, const std::string& what) {
  const std::string form = "a result and two operands, as O[b][k]+=I[b][c]*W[c][k]";
  if (!json.is_string()) fail(what, "equation", json, form);
  std::string text = json;
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  const auto wrong = [&] { fail(what, "equation", json, form); };
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::size_t at = 0;
  const auto word = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    if (at == begin) wrong();
    return text.substr(begin, at - begin);
  };
  Equation equation;
  while (true) {
    Operand operand{word(), {}};
    while (at < text.size() && text[at] == '[') {
      ++at;
      if (at == text.size()) wrong();
      if (text[at] != ']') operand.loops.push_back(upper(word()));  // W[] is a number
      if (at == text.size() || text[at++] != ']') wrong();
    }
    equation.operands.push_back(std::move(operand));
    if (at == text.size()) break;
    const std::size_t begin = at;
    while (at < text.size() && !is_word(text[at]) && text[at] != '[') ++at;
    equation.signs.push_back(text.substr(begin, at - begin));
  }
  const bool assigns = !equation.signs.empty() && (equation.signs[0] == "+=" || equation.signs[0] == "=");
  if (!assigns || equation.operands.size() > 3) wrong();
  for (std::size_t i = 1; i < equation.signs.size(); ++i)
    if (equation.signs[i] != "*" && equation.signs[i] != "+") wrong();
  return equation;
}

/// `ix=2*ox+1*fx`: what a name in the equation stands for.
std::map<std::string, Names> relations_of(const Json& layer, const std::string& what) {
  std::map<std::string, Names> relations;
  const auto found = layer.find("dimension_relations");
  if (found == layer.end()) return relations;
  const std::string form = "a list of sums of loops, as [ix=1*ox+1*fx]";
  if (!found->is_array()) fail(what, "dimension_relations", *found, form);
  for (const Json& json : *found) {
    if (!json.is_string()) fail(what, "dimension_relations", json, form);
    std::string text = json;
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) fail(what, "dimension_relations", json, form);
    Names loops;
    for (std::size_t at = equals + 1; at <= text.size();) {
      const std::size_t plus = std::min(text.find('+', at), text.size());
      std::string term = text.substr(at, plus - at);
      at = plus + 1;
      const std::size_t times = term.find('*');
      if (times != std::string::npos) {
        if (!number(term.substr(0, times))) fail(what, "dimension_relations", json, form);
        term.erase(0, times + 1);
      }
      if (term.empty()) fail(what, "dimension_relations", json, form);
      loops.push_back(upper(term));
    }
    if (!relations.emplace(upper(text.substr(0, equals)), loops).second)
      fail(what, "dimension_relations", json, "each name once on the left");
  }
  return relations;
}

std::optional<Json> zigzag_layer(const Json& layer, std::size_t index) {
  std::string what = "layer " + std::to_string(index);
  if (!layer.is_object()) throw Error(what + " is " + brief(layer) + "; expected a layer of ZigZag, with its keys");
  const std::string type = label_of(layer, "operator_type"), id = label_of(layer, "id");
  std::string name = label_of(layer, "name");
  if (name.empty()) name = (type.empty() ? "layer" : type) + "_" + (id.empty() ? std::to_string(index) : id);
  what += " (" + io::shown(name) + ")";
  const Equation equation = equation_of(member(layer, what, "equation", "one, as O[b][k]+=I[b][c]*W[c][k]"), what);
  const Names loops = names_of(member(layer, what, "loop_dims", "the names of its loops"), what, "loop_dims");
  const Json& sizes = member(layer, what, "loop_sizes", "a size for each of loop_dims");
  if (!sizes.is_array() || sizes.size() != loops.size())
    fail(what, "loop_sizes", sizes, "a list of " + std::to_string(loops.size()) + " sizes, as loop_dims has names");
  Nest nest;
  nest.what = what;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (!nest.sizes.emplace(upper(loops[i]), size_of(sizes[i], what, "loop_sizes")).second)
      fail(what, "loop_dims", loops[i], "each name once");
  const auto relations = relations_of(layer, what);
  const bool adds = equation.signs.size() == 2 && equation.signs[1] == "+";
  const bool pools = lower(type).find("pool") != std::string::npos || lower(type) == "max";
  if (adds || pools || equation.operands.size() == 2) return {};
  // W is the operand of weights, on whichever side.
  std::size_t right = equation.operands[1].name == "W" ? 1 : 2;
  for (std::size_t i = 0; i < 3; ++i) {
    std::set<std::string>& into = i == 0 ? nest.result : i == right ? nest.right : nest.left;
    for (const std::string& loop : equation.operands[i].loops) {
      const auto relation = relations.find(loop);
      for (const std::string& one : relation == relations.end() ? Names{loop} : relation->second) {
        if (!nest.sizes.contains(one)) {
          throw Error(what + ": \"equation\" has the loop " + in_quotes(one) + "; expected one of loop_dims, " +
                      joined(loops));
        }
        into.insert(one);
      }
    }
  }
  std::optional<Json> product = product_of(nest);
  if (!product) return {};
  (*product)["name"] = name;
  // An operand that another layer makes is no weight.
  const auto sources = layer.find("operand_source");
  if (sources != layer.end() && sources->is_object() && layer.contains("id")) {
    const auto source = sources->find(equation.operands[right].name);
    if (source != sources->end() && *source != layer["id"]) (*product)["weights"] = false;
  }
  return product;
}

Json from_zigzag(const Json& tree) {
  Json layers = Json::array();
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (auto layer = zigzag_layer(tree[i], i)) {
      layers.push_back(std::move(*layer));
    } else {
      ++left_out;
    }
  }
  if (layers.empty())
    throw Error("none of its " + std::to_string(tree.size()) +
                " layers multiplies matrices; expected a list of ZigZag layers with a convolution or matrix product");
  std::string what = "from ZigZag, " + std::to_string(tree.size()) + (tree.size() == 1 ? " layer" : " layers");
  if (left_out != 0) what += "; " + std::to_string(left_out) + " that add, pool or scale are left out";
  return {{"name", ""}, {"what", what}, {"layers", std::move(layers)}};
}

// ---- Timeloop

struct DataSpace {
  std::string name;
  std::set<std::string> loops;
  bool writes = false, sums = false;  ///< sums: an index is a sum of loops
};

/// Keys have been written with dashes and with underscores.
const Json* either(const Json& object, const char* one, const char* other) {
  const auto found = object.find(one);
  if (found != object.end()) return &*found;
  const auto also = object.find(other);
  return also == object.end() ? nullptr : &*also;
}

DataSpace data_space_of(const Json& json, std::size_t index, const Names& dimensions,
                        const std::set<std::string>& coefficients) {
  std::string what = "data space " + std::to_string(index);
  if (!json.is_object()) throw Error(what + " is " + brief(json) + "; expected name and projection");
  DataSpace space;
  space.name = label_of(json, "name");
  if (!space.name.empty()) what += " (" + io::shown(space.name) + ")";
  if (const Json* writes = either(json, "read_write", "read-write")) {
    const std::string said = writes->is_string() ? lower(writes->get<std::string>()) : brief(*writes);
    if (said != "true" && said != "false") fail(what, "read_write", *writes, "true or false");
    space.writes = said == "true";
  }
  const std::string form = "a list of indices, each a list of products as [R, Wdilation]";
  const Json& projection = member(json, what, "projection", form);
  if (!projection.is_array()) fail(what, "projection", projection, form);
  for (const Json& rank : projection) {
    if (!rank.is_array() || rank.empty()) fail(what, "projection", rank, form);
    space.sums = space.sums || rank.size() > 1;
    for (const Json& term : rank) {
      if (!term.is_array() || term.empty() || term.size() > 2) fail(what, "projection", term, form);
      if (!term[0].is_string() ||
          std::find(dimensions.begin(), dimensions.end(), term[0].get<std::string>()) == dimensions.end())
        fail(what, "projection", term[0], "one of the dimensions " + joined(dimensions));
      if (term.size() == 2 && !term[1].is_number() &&
          !(term[1].is_string() && coefficients.contains(term[1].get<std::string>())))
        fail(what, "projection", term[1], "the name of a coefficient of the shape");
      space.loops.insert(term[0].get<std::string>());
    }
  }
  return space;
}

Json from_timeloop(const Json& problem) {
  const std::string what = "the problem";
  if (!problem.is_object()) throw Error(what + " is " + brief(problem) + "; expected shape and instance");
  const Json& shape = member(problem, what, "shape",
                             "dimensions and data_spaces; a file that includes a template is read as Timeloop's "
                             "front end writes it out");
  if (!shape.is_object())
    fail(what, "shape", shape, "dimensions and data_spaces written out, as in Timeloop's problem-shapes");
  const std::string in_shape = "the problem's shape";
  const Names dimensions =
      names_of(member(shape, in_shape, "dimensions", "the names of its loops"), in_shape, "dimensions");
  std::set<std::string> coefficients;
  if (const auto given = shape.find("coefficients"); given != shape.end()) {
    const std::string form = "a list of name and default";
    if (!given->is_array()) fail(in_shape, "coefficients", *given, form);
    for (const Json& one : *given) {
      if (!one.is_object() || label_of(one, "name").empty()) fail(in_shape, "coefficients", one, form);
      coefficients.insert(label_of(one, "name"));
    }
  }
  const Json* spaces = either(shape, "data_spaces", "data-spaces");
  if (!spaces) throw Error(in_shape + " has no \"data_spaces\"; expected two operands and a result");
  if (!spaces->is_array() || spaces->size() != 3)
    fail(in_shape, "data_spaces", *spaces, "a list of three, two operands and a result with read_write: true");
  std::vector<DataSpace> operands;
  std::optional<DataSpace> result;
  for (std::size_t i = 0; i < 3; ++i) {
    DataSpace space = data_space_of((*spaces)[i], i, dimensions, coefficients);
    if (!space.writes) {
      operands.push_back(std::move(space));
    } else if (!result) {
      result = std::move(space);
    } else {
      operands.clear();
      break;
    }
  }
  if (!result || operands.size() != 2)
    throw Error(in_shape +
                " has not one data space with read_write: true and two without; expected two operands and "
                "a result");
  // Weights are told by their name, else as what is not slid over, else as the second.
  const auto weights = [](const DataSpace& space) {
    const std::string name = lower(space.name);
    return name.find("weight") != std::string::npos || name.find("filter") != std::string::npos;
  };
  const bool first =
      weights(operands[0]) != weights(operands[1]) ? weights(operands[0]) : operands[1].sums && !operands[0].sums;
  Nest nest;
  nest.what = what;
  nest.left = operands[first ? 1 : 0].loops;
  nest.right = operands[first ? 0 : 1].loops;
  nest.result = result->loops;
  // Before version 0.3 the sizes stood beside the shape.
  const auto instance = problem.find("instance");
  const Json& sizes = instance == problem.end() ? problem : *instance;
  if (!sizes.is_object()) fail(what, "instance", sizes, "a size for each dimension");
  const std::string in_instance = "the problem's instance";
  for (const std::string& name : dimensions)
    nest.sizes[name] = size_of(member(sizes, in_instance, name, a_size), in_instance, name);
  for (const std::string& name : coefficients)
    if (sizes.contains(name)) size_of(sizes[name], in_instance, name);
  std::optional<Json> layer = product_of(nest);
  if (!layer) throw Error(what + " multiplies element by element; expected a matrix product or a convolution");
  std::string name = label_of(problem, "name");
  if (name.empty()) name = label_of(shape, "name");
  if (name.empty()) name = "problem";
  (*layer)["name"] = name;
  return {{"name", ""},
          {"what", "from Timeloop, a problem of " + std::to_string(dimensions.size()) + " loops"},
          {"layers", Json::array({*layer})}};
}

}  // namespace

Json workload_from_tree(const Json& tree) {
  if (tree.is_array() && !tree.empty()) return from_zigzag(tree);
  if (tree.is_object() && tree.contains("problem")) return from_timeloop(tree["problem"]);
  throw Error("it is " + brief(tree) +
              "; expected a list of layers as ZigZag has them, or a mapping with \"problem\" as Timeloop has it");
}

}  // namespace narrowgauge::power
