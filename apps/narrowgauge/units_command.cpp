// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands.hpp"
#include "narrowgauge/error.hpp"
#include "report.hpp"
#include "units_data.hpp"

namespace narrowgauge::cli {
namespace {

std::string yes_no(const Json& list) { return list.empty() ? "no" : "yes"; }

std::string faults(const Json& unit) {
  const int injected = unit.at("faults");
  const int equivalent = unit.at("faults_equivalent");
  const int killed = unit.at("faults_killed");
  return injected == 0 ? "none run" : std::to_string(killed) + " of " + std::to_string(injected - equivalent);
}

std::string area(const Json& unit) {
  std::string text;
  for (const Json& item : unit.at("area")) {
    std::string parameters;
    for (const auto& [name, value] : item.at("parameters").items()) {
      parameters += (parameters.empty() ? "" : ", ") + name + " " + value.dump();
    }
    text +=
        (text.empty() ? "" : "; ") + item.at("ice40_lut4").dump() + (parameters.empty() ? "" : " (" + parameters + ")");
  }
  return text.empty() ? "not recorded" : text;
}

void run(bool json) {
  const Json units = Json::parse(units_json);
  if (units.empty()) {
    throw Error(
        "the units' status is not in this build, which was made for a Python package and has no hardware: see the "
        "table "
        "in README.md, or build the program from the repository (make build)");
  }
  if (json) return print_json({{"command", "units"}, {"units", units}});
  std::vector<std::vector<std::string>> rows;
  for (const Json& unit : units) {
    rows.push_back({unit.at("name"), unit.at("does"), unit.contains("systemc") ? "yes" : "no",
                    yes_no(unit.at("benches")), faults(unit), yes_no(unit.at("proofs")), area(unit)});
  }
  print_table({"unit", "what", "SystemC", "testbench on RTL and netlist", "mutants killed", "proof", "iCE40 LUT4"},
              rows);
}

}  // namespace

void add_units(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App& command = *app.add_subcommand("units", "The hardware units, how each is verified, and its area");
  command.add_flag("--json", *json, "Print one JSON document, with the files of each unit, and nothing else on stdout");
  command.footer(
      "  SystemC         a cycle model, in lock-step with the RTL\n"
      "  testbench       the RTL, and the netlist that synthesis makes of it, run against the golden model\n"
      "  mutants killed  those that the testbench noticed; mutants proven to change nothing do not count\n"
      "  proof           shown for all inputs by a solver\n"
      "  iCE40 LUT4      as recorded for these parameters; docs/area.md has conditions, recipe and other targets\n"
      "The data are those of the source tree from which this program was built (tools/ngtools/status.py).\n"
      "\n"
      "Examples:\n"
      "  narrowgauge units\n"
      "  narrowgauge units --json");
  command.callback([json, &exit_code] {
    run(*json);
    exit_code = 0;
  });
}

}  // namespace narrowgauge::cli
