// SPDX-License-Identifier: Apache-2.0
// A cell library (technology JSON, written by tools/ngtools/power/technology.py from Liberty) and a mapped netlist
// (Yosys JSON).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace narrowgauge::power::gate {

/// Energy in joules of one transition, over output load (farad) and input transition time (second). Values are
/// load-major; an axis may be absent.
struct PowerTable {
  std::vector<double> load, slew, values;

  /// Bilinear, beyond the axes linearly extrapolated, as Liberty prescribes.
  double at(double load_f, double slew_s) const;
};

/// One internal_power group. `when` is a truth table over the cell's inputs, of a flip-flop also over its state, which
/// is the highest variable; it is empty if the row always holds.
struct PowerRow {
  int pin = -1;  ///< related input, of an output's row
  std::string when;
  PowerTable rise, fall;
};

struct InputPin {
  std::string name;
  double capacitance = 0;  ///< farad
  std::vector<PowerRow> power;
};

struct OutputPin {
  std::string name;
  double capacitance = 0;
  std::string function;   ///< truth table over the inputs; of a flip-flop's output empty
  bool inverted = false;  ///< a flip-flop's output: the inverse of its state
  std::vector<PowerRow> power;
};

struct FlipFlop {
  int clock = 0;  ///< input
  bool falling = false;
  std::string next_state, clear, preset;  ///< truth tables; empty where there is none
  bool clear_wins = true;

  /// What it holds before it is clocked: what it takes while all inputs are 0, so that the value behind an inverted
  /// input and an inverted output starts as 0 in every library.
  std::uint8_t start() const { return static_cast<std::uint8_t>(next_state[0] - '0'); }
};

struct CellType {
  std::string name;
  double area = 0;     ///< square metre
  double leakage = 0;  ///< watt
  std::vector<InputPin> inputs;
  std::vector<OutputPin> outputs;
  std::optional<FlipFlop> flip_flop;
};

struct Technology {
  std::string name, liberty_sha256;
  double voltage = 0;     ///< volt
  double input_slew = 0;  ///< second: transition time of the unit's inputs and its clock
  double tick = 1e-12;    ///< second: the simulation's step of time
  std::map<std::string, CellType, std::less<>> cells;
  std::map<std::string, std::string, std::less<>> skipped;  ///< cell -> why it cannot be simulated
};

/// Throws Error if the file is not a technology JSON of this schema.
Technology read_technology(const std::filesystem::path& path);

/// Nets 0 and 1 are the constants; the others have drivers.
struct Instance {
  std::string name;
  const CellType* type = nullptr;
  std::vector<int> inputs, outputs;  ///< nets, in the order of the type's pins; -1 where an output is open
};

struct Port {
  std::string name;
  bool input = false;
  std::vector<int> nets;  ///< least significant first
};

/// An ng_ram, which no cell library has: its words are simulated, its energy is not (docs/energy_flow.md).
struct Ram {
  std::string name;
  int clock = 0, write_enable = 0, read_enable = 0;                     ///< nets
  std::vector<int> write_address, write_data, read_address, read_data;  ///< nets, least significant first
};

struct Netlist {
  std::string top;
  std::vector<std::string> net_names;  ///< unique, without brackets' escapes: "u_unit.dot_q[3]"
  std::vector<Instance> instances;
  std::vector<Ram> rams;
  std::vector<Port> ports;
  std::vector<double> load;  ///< farad on each net: pins only, no wires

  const Port* find_port(std::string_view name) const;
};

/// Reads the one module of a flat netlist that Yosys wrote as JSON, instances of ng_ram left in it. Throws Error on a
/// cell that the technology lacks, on a pin without net, on a net with two drivers or none.
Netlist read_netlist(const std::filesystem::path& path, const Technology& technology);

}  // namespace narrowgauge::power::gate
