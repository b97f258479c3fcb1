// SPDX-License-Identifier: Apache-2.0
#include "gatesim/gate_energy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "narrowgauge/error.hpp"

namespace narrowgauge::power::gate {
namespace {

/// How an output follows an input.
enum class Sense { positive, negative, both };

Sense sense(const std::string& function, std::size_t pin) {
  bool rises = false, falls = false;
  for (std::size_t state = 0; state < function.size(); ++state) {
    if ((state >> pin & 1) != 0) continue;
    const char low = function[state], high = function[state | std::size_t{1} << pin];
    rises = rises || (low == '0' && high == '1');
    falls = falls || (low == '1' && high == '0');
  }
  return rises && falls ? Sense::both : falls ? Sense::negative : Sense::positive;
}

/// Transition time of the input edge behind an output edge; the mean where it may be either.
double causing_slew(const Slew& slew, Sense how, bool rise) {
  if (how == Sense::both) return (slew.rise + slew.fall) / 2;
  return rise == (how == Sense::positive) ? slew.rise : slew.fall;
}

/// One rise or fall of an input pin, mean over its rows.
double pin_energy(const InputPin& pin, const Slew& slew, bool rise) {
  if (pin.power.empty()) return 0;
  double sum = 0;
  for (const PowerRow& row : pin.power) sum += rise ? row.rise.at(0, slew.rise) : row.fall.at(0, slew.fall);
  return sum / static_cast<double>(pin.power.size());
}

bool conditional(const std::vector<PowerRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const PowerRow& row) { return !row.when.empty(); });
}

double real(std::uint64_t count) { return static_cast<double>(count); }

/// Of an input whose changes are counted by row.
double counted_energy(const InputPin& pin, const Slew& slew, const Counts& counts, std::size_t first) {
  double sum = 0;
  for (std::size_t r = 0; r < pin.power.size(); ++r) {
    sum += real(counts.passive[first + 2 * r]) * pin.power[r].rise.at(0, slew.rise);
    sum += real(counts.passive[first + 2 * r + 1]) * pin.power[r].fall.at(0, slew.fall);
  }
  return sum;
}

}  // namespace

Slews read_slews(const std::filesystem::path& path, const Netlist& netlist, const Technology& technology) {
  Slews slews;
  std::unordered_map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < netlist.instances.size(); ++i) {
    slews.emplace_back(netlist.instances[i].inputs.size(), Slew{technology.input_slew, technology.input_slew});
    indices.emplace(netlist.instances[i].name, i);
  }
  if (path.empty()) return slews;
  std::ifstream in(path);
  if (!in) throw Error("file of transition times " + path.string() + " cannot be read");
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string name;
    double rise = 0, fall = 0;
    const std::size_t slash = (words >> name >> rise >> fall) ? name.rfind('/') : std::string::npos;
    const auto found = slash == std::string::npos ? indices.end() : indices.find(name.substr(0, slash));
    if (found == indices.end() || rise < 0 || fall < 0) {
      throw Error("line " + std::to_string(number) + " of " + path.string() + ", '" + line +
                  "', is not 'instance/pin rise fall' of this netlist");
    }
    const Instance& instance = netlist.instances[found->second];
    const std::string pin = name.substr(slash + 1);
    for (std::size_t i = 0; i < instance.inputs.size(); ++i) {
      // An ideal clock and constants have no transition time of their own.
      if (instance.type->inputs[i].name != pin || rise <= 0 || fall <= 0) continue;
      slews[found->second][i] = {rise * 1e-9, fall * 1e-9};
    }
  }
  return slews;
}

std::vector<Energy> energies(const Netlist& netlist, const Technology& technology, const Slews& slews,
                             const Simulator& simulator, const Counts& counts) {
  const double half_v2 = technology.voltage * technology.voltage / 2;
  const double cycles = real(counts.cycles);
  std::vector<Energy> result(netlist.instances.size());
  for (std::size_t n = 0; n < netlist.instances.size(); ++n) {
    const Instance& instance = netlist.instances[n];
    const CellType& type = *instance.type;
    Energy& energy = result[n];
    std::size_t cause = simulator.first_cause(n);
    for (std::size_t o = 0; o < type.outputs.size(); ++o) {
      const OutputPin& pin = type.outputs[o];
      const std::size_t causes = cause;
      cause += 2 * pin.power.size();
      if (instance.outputs[o] < 0) continue;
      const auto net = static_cast<std::size_t>(instance.outputs[o]);
      energy.switching += half_v2 * netlist.load[net] * real(counts.toggles(net));
      if (type.flip_flop) {
        // Every transition comes from the clock.
        double rise = 0, fall = 0, rows = 0;
        const Slew& slew = slews[n][static_cast<std::size_t>(type.flip_flop->clock)];
        if (conditional(pin.power)) {
          for (std::size_t r = 0; r < pin.power.size(); ++r) {
            const PowerRow& row = pin.power[r];
            energy.internal += (real(counts.causes[causes + 2 * r]) * row.rise.at(netlist.load[net], slew.rise) +
                                real(counts.causes[causes + 2 * r + 1]) * row.fall.at(netlist.load[net], slew.rise)) /
                               static_cast<double>(Counts::share);
          }
          continue;
        }
        for (const PowerRow& row : pin.power) {
          if (row.pin != type.flip_flop->clock) continue;
          rise += row.rise.at(netlist.load[net], slew.rise);
          fall += row.fall.at(netlist.load[net], slew.rise);
          rows += 1;
        }
        if (rows > 0) energy.internal += (real(counts.rises[net]) * rise + real(counts.falls[net]) * fall) / rows;
        continue;
      }
      for (std::size_t r = 0; r < pin.power.size(); ++r) {
        const PowerRow& row = pin.power[r];
        const auto from = static_cast<std::size_t>(row.pin);
        const Sense how = sense(pin.function, from);
        energy.internal += (real(counts.causes[causes + 2 * r]) *
                                row.rise.at(netlist.load[net], causing_slew(slews[n][from], how, true)) +
                            real(counts.causes[causes + 2 * r + 1]) *
                                row.fall.at(netlist.load[net], causing_slew(slews[n][from], how, false))) /
                           static_cast<double>(Counts::share);
      }
    }
    std::size_t passive = simulator.first_passive(n);
    for (std::size_t i = 0; i < type.inputs.size(); ++i) {
      const InputPin& pin = type.inputs[i];
      const auto net = static_cast<std::size_t>(instance.inputs[i]);
      const Slew& slew = slews[n][i];
      if (instance.inputs[i] == simulator.clock_net()) {
        if (conditional(pin.power)) {
          energy.clock += counted_energy(pin, slew, counts, passive);
        } else {
          energy.clock += cycles * (pin_energy(pin, slew, true) + pin_energy(pin, slew, false));
        }
        energy.clock += cycles * 2 * half_v2 * pin.capacitance;
      } else if (!conditional(pin.power)) {
        energy.internal += real(counts.rises[net]) * pin_energy(pin, slew, true);
        energy.internal += real(counts.falls[net]) * pin_energy(pin, slew, false);
      } else {
        energy.internal += counted_energy(pin, slew, counts, passive);
      }
      passive += 2 * pin.power.size();
    }
  }
  return result;
}

std::uint64_t driven_toggles(const Netlist& netlist, const Counts& counts) {
  std::uint64_t sum = 0;
  for (const Instance& instance : netlist.instances) {
    for (const int net : instance.outputs) {
      if (net >= 0) sum += counts.toggles(static_cast<std::size_t>(net));
    }
  }
  return sum;
}

Counts net_activity(const Netlist& netlist, const std::vector<std::uint64_t>& edges, std::size_t cycles) {
  Counts counts;
  counts.cycles = cycles;
  counts.rises = counts.falls = edges;
  counts.rises[0] = counts.rises[1] = counts.falls[0] = counts.falls[1] = 0;
  counts.high.assign(edges.size(), static_cast<std::int64_t>(cycles));
  for (std::size_t n = 0; n < netlist.instances.size(); ++n) {
    const Instance& instance = netlist.instances[n];
    const CellType& type = *instance.type;
    for (std::size_t o = 0; o < type.outputs.size(); ++o) {
      const std::uint64_t of = instance.outputs[o] < 0 ? 0 : edges[static_cast<std::size_t>(instance.outputs[o])];
      for (std::size_t r = 0; r < type.outputs[o].power.size(); ++r) {
        const std::uint64_t part = of * Counts::share / type.outputs[o].power.size();
        counts.causes.insert(counts.causes.end(), {part, part});
      }
    }
    for (std::size_t i = 0; i < type.inputs.size(); ++i) {
      const std::size_t rows = type.inputs[i].power.size();
      const bool clock = type.flip_flop && type.flip_flop->clock == static_cast<int>(i);
      const std::uint64_t all = clock ? cycles : edges[static_cast<std::size_t>(instance.inputs[i])];
      for (std::size_t r = 0; r < rows; ++r) counts.passive.insert(counts.passive.end(), {all / rows, all / rows});
    }
  }
  return counts;
}

Counts global_activity(const Netlist& netlist, double activity, std::size_t cycles) {
  const auto edges = static_cast<std::uint64_t>(std::llround(activity * static_cast<double>(cycles) / 2));
  std::vector<std::uint64_t> all(netlist.net_names.size(), edges);
  return net_activity(netlist, all, cycles);
}

std::vector<std::uint64_t> read_toggles(const std::filesystem::path& path, const Netlist& netlist) {
  std::ifstream in(path);
  if (!in) throw Error("file of transitions " + path.string() + " cannot be read");
  std::unordered_map<std::string, std::size_t> nets;
  for (std::size_t net = 2; net < netlist.net_names.size(); ++net) nets.emplace(netlist.net_names[net], net);
  std::vector<std::uint64_t> edges(netlist.net_names.size(), 0);
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t toggles = 0;
    const auto found = (words >> name >> toggles) ? nets.find(name) : nets.end();
    if (found == nets.end()) {
      throw Error("line " + std::to_string(number) + " of " + path.string() + ", '" + line +
                  "', is not 'net transitions' of this netlist");
    }
    edges[found->second] = (toggles + 1) / 2;
  }
  return edges;
}

void write_saif(const std::filesystem::path& path, const Netlist& netlist, const Simulator& simulator,
                const Counts& counts, std::int64_t ticks_per_cycle, double tick_s) {
  std::ofstream out(path);
  if (!out) throw Error("SAIF file " + path.string() + " cannot be written");
  const auto cycles = static_cast<std::int64_t>(counts.cycles);
  const std::int64_t duration = cycles * ticks_per_cycle;
  // SAIF knows 1, 10 and 100 of a unit.
  char scale[32];
  std::snprintf(scale, sizeof scale, "%lld fs", std::llround(tick_s * 1e15));
  std::string unit = scale;
  if (unit == "1000 fs") unit = "1 ps";
  if (unit == "1000000 fs") unit = "1 ns";
  out << "(SAIFILE\n(SAIFVERSION \"2.0\")\n(DIRECTION \"backward\")\n(DESIGN \"" << netlist.top
      << "\")\n(PROGRAM_NAME \"ng_gatesim\")\n(DIVIDER / )\n(TIMESCALE " << unit << ")\n(DURATION " << duration
      << ")\n(INSTANCE " << netlist.top << "\n  (NET\n";
  for (std::size_t net = 2; net < netlist.net_names.size(); ++net) {
    std::string name;
    for (const char c : netlist.net_names[net]) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') name += '\\';
      name += c;
    }
    const bool clock = static_cast<int>(net) == simulator.clock_net();
    const std::int64_t high = clock ? duration / 2 : counts.high[net];
    const std::uint64_t toggles = clock ? 2 * counts.cycles : counts.toggles(net);
    out << "    (" << name << " (T0 " << duration - high << ") (T1 " << high << ") (TX 0) (TC " << toggles << "))\n";
  }
  out << "  )\n)\n)\n";
  if (!out) throw Error("SAIF file " + path.string() + " cannot be written completely");
}

}  // namespace narrowgauge::power::gate
