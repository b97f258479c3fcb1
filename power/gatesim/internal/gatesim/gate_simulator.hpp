// SPDX-License-Identifier: Apache-2.0
// Simulation of a mapped netlist on a stimulus, counting transitions: settled values only (rung L2), or with the delays
// of an SDF file (rung L3). docs/energy_flow.md says what is counted and what is not.
//
// A clock cycle: flip-flops take their inputs at the rising edge, everything settles, half a period later the inputs
// change. Delays act as Icarus Verilog's do (-gspecify): the latest value is sent when a delay ends, so that a pulse
// shorter than the delay vanishes; with several paths, the shortest from the inputs that changed last. A memory takes
// and gives its word at the edge, without delay; it begins with zeros.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gatesim/gate_netlist.hpp"

namespace narrowgauge::power::gate {

/// Values of the input ports in each cycle: bits[cycle * width + k], ports and their bits in order.
struct Vectors {
  struct Column {
    std::string name;
    int width = 0;
  };
  std::string header;  ///< the file's first line, JSON
  std::vector<Column> columns;
  std::size_t width = 0;  ///< sum of the columns' widths
  std::size_t cycles = 0;
  std::vector<std::uint8_t> bits;
};

/// Reads a .stim file: a line of JSON, then one line of hexadecimal values a cycle. Throws Error naming the line.
Vectors read_vectors(const std::filesystem::path& path);

/// Delay in ticks from one input of an instance to one output, for the output's rise and fall.
struct PathDelay {
  std::int64_t rise = 0, fall = 0;
};

/// delays[instance][output * inputs + input]
struct Delays {
  double tick_s = 1e-12;
  std::vector<std::vector<PathDelay>> paths;
};

/// Reads the IOPATH delays, the last of min:typ:max. Throws Error on instances or pins that the netlist does not have,
/// on a path of the netlist without delay, on interconnect delays other than zero.
Delays read_sdf(const std::filesystem::path& path, const Netlist& netlist, double tick_s = 1e-12);

struct Options {
  std::string clock = "clk_i";
  std::string reset = "rst_ni";  ///< active low, held during the first cycle's set-up; absent in some netlists
  std::size_t warm_up = 16;      ///< cycles that are simulated but not counted
  std::int64_t period = 0;       ///< ticks; with delays only
  unsigned threads = 0;          ///< with delays only; 0: one per core
};

/// Counted transitions. A transition of an output that several simultaneous inputs caused is shared among them:
/// counts of causes are in units of 1/share.
struct Counts {
  static constexpr std::uint64_t share = 27720;  ///< divisible by 1 to 12

  std::size_t cycles = 0;
  std::vector<std::uint64_t> rises, falls;  ///< of each net
  std::vector<std::int64_t> high;           ///< ticks (cycles without delays) at 1, of each net
  /// causes[first_cause[instance] + ...]: for each output, each row of its power tables, rise and fall.
  std::vector<std::uint64_t> causes;
  /// Changes by row, as in `causes`, of inputs that have a condition; of clock pins that have one, the clock's edges.
  std::vector<std::uint64_t> passive;
  std::vector<std::uint64_t> ram_reads, ram_writes;  ///< words, of each memory
  std::uint64_t events = 0;                          ///< evaluations of cells
  /// Transitions of all nets in each batch of cycles (the last one may be shorter and is left out): what a standard
  /// error comes from.
  std::vector<std::uint64_t> batches;
  static constexpr std::size_t batch = 256;

  std::uint64_t toggles(std::size_t net) const { return rises[net] + falls[net]; }
};

/// A netlist made ready for simulation. Throws Error on combinational loops, on several clocks, on a clock that feeds
/// logic.
class Simulator {
 public:
  Simulator(const Netlist& netlist, const Options& options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// Settled values only. `outputs`, if given, gets the output ports' bits after every cycle's clock edge.
  Counts run(const Vectors& vectors, std::vector<std::uint8_t>* outputs = nullptr) const;

  /// With delays. Throws Error if a cycle does not settle within half a period or does not end in the settled values.
  Counts run(const Vectors& vectors, const Delays& delays) const;

  /// Where an instance's causes and conditional input rows begin in Counts.
  std::size_t first_cause(std::size_t instance) const;
  std::size_t first_passive(std::size_t instance) const;
  /// The net that clocks all flip-flops, -1 if there are none.
  int clock_net() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace narrowgauge::power::gate
