// SPDX-License-Identifier: Apache-2.0
// ng_stimulus: writes the .stim file of an energy unit.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "features/stimulus.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/io/json.hpp"
#include "narrowgauge/io/npy.hpp"

namespace {

using narrowgauge::Error;
using namespace narrowgauge::power;

nlohmann::json find_unit(const std::string& path, const std::string& name) {
  std::string known;
  try {
    const auto units = narrowgauge::io::read_json(path);
    for (const auto& unit : units.at("units")) {
      if (unit.at("name") == name) return unit;
      known += (known.empty() ? "" : ", ") + unit.at("name").get<std::string>();
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error("file of units " + path + " is not usable: " + error.what());
  }
  throw Error("unit '" + name + "' is not in " + path + "; known: " + known);
}

Tensor read_tensor(const std::string& path) {
  const auto matrix = narrowgauge::io::read_matrix(path);
  return {matrix.rows, matrix.cols, narrowgauge::io::to_float32(matrix)};
}

}  // namespace

int main(int argc, char** argv) {
  StimulusOptions options;
  std::string units, unit, out, a, b;
  CLI::App app{"Writes what the inputs of an energy unit see, cycle by cycle: a .stim file."};
  app.add_option("--units", units, "power/units.json, or a file like it")->required();
  app.add_option("--unit", unit, "name of the unit")->required();
  app.add_option("--stimulus", options.stimulus, "uniform, gauss, half_normal; or a name of yours, with --a and --b")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the random numbers")->capture_default_str();
  app.add_option("--cycles", options.cycles, "clock cycles")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--a", a, "operand a, M x K: an .npy file");
  app.add_option("--b", b, "operand b, K x N: an .npy file");
  app.add_option("--out", out, ".stim file to write")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    if (!a.empty()) options.a = read_tensor(a);
    if (!b.empty()) options.b = read_tensor(b);
    narrowgauge::io::OutputFile file(out);
    file.write(make_stimulus(find_unit(units, unit), options));
    file.commit();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ng_stimulus: " << error.what() << '\n';
    return 2;
  }
}
