// SPDX-License-Identifier: Apache-2.0
// narrowgauge quantize --compare: what two dialects do differently.
#include "quantize_compare.hpp"

#include <cstdio>

#include "narrowgauge/io/text.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

using Reasons = std::array<std::size_t, 6>;

std::string_view name_of(DifferenceReason why) { return difference_reasons[static_cast<std::size_t>(why)]; }

Json fields_json(const Dialect& d) {
  Json json{{"name", d.name}};
  for (const DialectField& field : fields(d)) json[std::string(field.name)] = field.value;
  return json;
}

/// Those that elements or blocks can have.
Json reasons_json(const Reasons& counts, std::initializer_list<DifferenceReason> possible) {
  Json json = Json::object();
  for (const DifferenceReason why : possible) json[std::string(name_of(why))] = counts[static_cast<std::size_t>(why)];
  return json;
}

std::string reasons_text(const Reasons& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += (text.empty() ? ": " : ", ") + std::string(difference_reasons[i]) + " " + std::to_string(counts[i]);
  }
  return text;
}

std::string share(std::size_t count, std::size_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + " (" +
         number(100 * static_cast<double>(count) / static_cast<double>(all)) + " %)";
}

void print_as_json(const io::Matrix& x, std::string_view axis, const std::array<Dialect, 2>& d,
                   const DialectDifference& out, double seconds) {
  using enum DifferenceReason;
  Json examples = Json::array();
  for (const DialectDifference::Example& e : out.examples) {
    const bool two = e.why == scale;
    examples.push_back({{"vector", e.vector},
                        {"element", e.element},
                        {"x", e.x},
                        {"codes", e.code},
                        {"scales", e.scale},
                        {"values", {json_number(e.value[0]), json_number(e.value[1])}},
                        {"why", name_of(e.why)},
                        {"scale_why", two ? Json(name_of(e.block_why)) : Json()}});
  }
  print_json({{"command", "quantize"},
              {"x", matrix_json(x)},
              {"axis", axis},
              {"dialects", {fields_json(d[0]), fields_json(d[1])}},
              {"tensor_scales", out.tensor_scale},
              {"blocks", out.blocks},
              {"blocks_differ", out.blocks_differ},
              {"block_reasons", reasons_json(out.block_reasons, {tie, clamp, zero, search, rule})},
              {"elements", out.elements},
              {"elements_differ", out.elements_differ},
              {"element_reasons", reasons_json(out.element_reasons, {scale, tie, clamp, zero, rule})},
              {"codes_differ", out.codes_differ},
              {"values_differ", out.values_differ},
              {"examples", examples},
              {"seconds", seconds}});
}

}  // namespace

void report_difference(const io::Matrix& x, Axis axis, std::string_view axis_name, const std::array<Dialect, 2>& d,
                       const DialectInputs& inputs, std::size_t examples, bool json) {
  const std::vector<float> narrow = io::to_float32(x);
  const Stopwatch time;
  const DialectDifference out = compare(narrow, x.rows, x.cols, axis, d[0], d[1], inputs, examples);
  if (json) {
    print_as_json(x, axis_name, d, out, time.seconds());
    finish_report();
    return;
  }
  print_facts({{"X", matrix_text(x)},
               {"first", std::string(d[0].name) + ": " + std::string(d[0].origin)},
               {"second", std::string(d[1].name) + ": " + std::string(d[1].origin)},
               {"tensor scales", number(out.tensor_scale[0]) + ", " + number(out.tensor_scale[1])},
               {"scales differ", share(out.blocks_differ, out.blocks) + reasons_text(out.block_reasons)},
               {"elements differ", share(out.elements_differ, out.elements) + reasons_text(out.element_reasons)},
               {"codes differ", share(out.codes_differ, out.elements)},
               {"values differ", share(out.values_differ, out.elements)}});
  if (!out.examples.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const DialectDifference::Example& e : out.examples) {
      const bool two = e.why == DifferenceReason::scale;
      rows.push_back({std::to_string(e.vector), std::to_string(e.element), number(e.x),
                      hex(e.scale[0], 2) + " " + hex(e.scale[1], 2), hex(e.code[0], 1) + " " + hex(e.code[1], 1),
                      number(e.value[0]) + " " + number(e.value[1]),
                      two ? "scale: " + std::string(name_of(e.block_why)) : std::string(name_of(e.why))});
    }
    std::printf("\n");
    print_table({"vector", "element", "x", "scales", "codes", "values", "why"}, rows);
  }
  finish_report();
}

}  // namespace narrowgauge::cli
