// SPDX-License-Identifier: Apache-2.0
// Counted transitions times Liberty energies, and SAIF.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "gatesim/gate_simulator.hpp"

namespace narrowgauge::power::gate {

/// Transition times in seconds of an instance's input, for its rise and fall.
struct Slew {
  double rise = 0, fall = 0;
};

/// slews[instance][input]. Inputs that the file does not name have the technology's input_slew.
using Slews = std::vector<std::vector<Slew>>;

/// Reads lines "instance/pin rise fall", in nanoseconds, as the flow writes them with OpenSTA. A path that is empty
/// gives every input the technology's input_slew. Throws Error naming the line.
Slews read_slews(const std::filesystem::path& path, const Netlist& netlist, const Technology& technology);

/// Joules over all counted cycles.
struct Energy {
  double internal = 0;   ///< within cells: Liberty's internal_power, without the clock pins'
  double switching = 0;  ///< of the nets that cells drive: C V^2 / 2 a transition
  double clock = 0;      ///< clock pins' internal energy, and C V^2 a cycle of the clock net's pins

  double total() const { return internal + switching + clock; }
  Energy& operator+=(const Energy& other) {
    internal += other.internal;
    switching += other.switching;
    clock += other.clock;
    return *this;
  }
};

/// Energy of each instance.
std::vector<Energy> energies(const Netlist& netlist, const Technology& technology, const Slews& slews,
                             const Simulator& simulator, const Counts& counts);

/// Transitions of all nets that cells drive.
std::uint64_t driven_toggles(const Netlist& netlist, const Counts& counts);

/// Counts of nets that rose and fell `edges` times each in so many cycles, each input of a cell, in each state, causing
/// an equal share: what is known of a simulation that counted transitions alone.
Counts net_activity(const Netlist& netlist, const std::vector<std::uint64_t>& edges, std::size_t cycles);

/// Reads lines "net transitions": half of them, for each net; 0 of nets that are not named. Throws Error naming the
/// line.
std::vector<std::uint64_t> read_toggles(const std::filesystem::path& path, const Netlist& netlist);

/// Counts as if every net toggled `activity` times a cycle, half of them up, each input of a cell causing an equal
/// share: what OpenSTA's `set_power_activity -global` means. For comparisons.
Counts global_activity(const Netlist& netlist, double activity, std::size_t cycles);

/// Writes the counts as a backward SAIF file (IEEE 1801, annex on SAIF). `tick_s` is the unit of Counts::high.
void write_saif(const std::filesystem::path& path, const Netlist& netlist, const Simulator& simulator,
                const Counts& counts, std::int64_t ticks_per_cycle, double tick_s);

}  // namespace narrowgauge::power::gate
