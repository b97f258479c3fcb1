// SPDX-License-Identifier: Apache-2.0
// ng_gatesim: energy of a mapped netlist on a stimulus, rungs L2 and L3. tools/ngtools/power/characterize.py drives it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "gatesim/gate_energy.hpp"
#include "narrowgauge/error.hpp"

namespace {

using namespace narrowgauge::power::gate;
using nlohmann::ordered_json;

struct Arguments {
  std::string technology, netlist, stimulus, sdf, slews, saif, nets, outputs, toggles;
  double period_s = 0, activity = 0;
  std::size_t warm_up = 16, instances = 0, cycles = 0;
  unsigned threads = 0;
  bool explain = false;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Relative standard error of the mean of the batches; 0 for fewer than two.
double standard_error(const std::vector<std::uint64_t>& batches) {
  if (batches.size() < 2) return 0;
  const auto n = static_cast<double>(batches.size());
  double mean = 0, square = 0;
  for (const auto batch : batches) mean += static_cast<double>(batch) / n;
  for (const auto batch : batches) square += std::pow(static_cast<double>(batch) - mean, 2);
  return mean > 0 ? std::sqrt(square / (n - 1) / n) / mean : 0;
}

class Report {
 public:
  Report(const Arguments& arguments, const Technology& technology, const Netlist& netlist, const Slews& slews,
         const Simulator& simulator)
      : arguments_(arguments), technology_(technology), netlist_(netlist), slews_(slews), simulator_(simulator) {}

  ordered_json rung(const Counts& counts, double seconds) const {
    const std::vector<Energy> parts = energies(netlist_, technology_, slews_, simulator_, counts);
    const auto cycles = static_cast<double>(counts.cycles);
    Energy sum;
    double leakage = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sum += parts[i];
      leakage += netlist_.instances[i].type->leakage;
    }
    ordered_json result{{"energy_j", sum.total() / cycles},
                        {"internal_j", sum.internal / cycles},
                        {"switching_j", sum.switching / cycles},
                        {"clock_j", sum.clock / cycles},
                        {"leakage_w", leakage}};
    if (arguments_.period_s > 0) result["leakage_j"] = leakage * arguments_.period_s;
    result["toggles"] = static_cast<double>(driven_toggles(netlist_, counts)) / cycles;
    result["toggles_total"] = driven_toggles(netlist_, counts);
    result["standard_error"] = standard_error(counts.batches);
    result["first_batch"] = counts.batches.empty() ? 0 : counts.batches.front();
    if (seconds > 0) {
      result["evaluations"] = counts.events;
      result["run_s"] = seconds;
    }
    if (arguments_.explain) result["by_type"] = by_type(counts, parts);
    if (arguments_.instances > 0) result["by_instance"] = by_instance(counts, parts);
    return result;
  }

 private:
  ordered_json entry(const Energy& energy, std::uint64_t toggles, double cycles) const {
    return {{"toggles", static_cast<double>(toggles) / cycles},
            {"energy_j", energy.total() / cycles},
            {"internal_j", energy.internal / cycles},
            {"switching_j", energy.switching / cycles},
            {"clock_j", energy.clock / cycles}};
  }

  std::uint64_t toggles(std::size_t i, const Counts& counts) const {
    std::uint64_t sum = 0;
    for (const int net : netlist_.instances[i].outputs) {
      if (net >= 0) sum += counts.toggles(static_cast<std::size_t>(net));
    }
    return sum;
  }

  ordered_json by_type(const Counts& counts, const std::vector<Energy>& parts) const {
    struct Row {
      std::size_t cells = 0;
      std::uint64_t toggles = 0;
      Energy energy;
    };
    std::map<std::string, Row> rows;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Row& row = rows[netlist_.instances[i].type->name];
      ++row.cells;
      row.toggles += toggles(i, counts);
      row.energy += parts[i];
    }
    ordered_json result;
    for (const auto& [name, row] : rows) {
      result[name] = {{"cells", row.cells}};
      result[name].update(entry(row.energy, row.toggles, static_cast<double>(counts.cycles)));
    }
    return result;
  }

  /// The most expensive ones.
  ordered_json by_instance(const Counts& counts, const std::vector<Energy>& parts) const {
    std::vector<std::size_t> order(parts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return parts[a].total() > parts[b].total(); });
    order.resize(std::min(order.size(), arguments_.instances));
    ordered_json result = ordered_json::array();
    for (const std::size_t i : order) {
      const Instance& instance = netlist_.instances[i];
      ordered_json row{{"instance", instance.name}, {"type", instance.type->name}, {"nets", ordered_json::array()}};
      for (const int net : instance.outputs) {
        if (net >= 0) row["nets"].push_back(netlist_.net_names[static_cast<std::size_t>(net)]);
      }
      row.update(entry(parts[i], toggles(i, counts), static_cast<double>(counts.cycles)));
      result.push_back(std::move(row));
    }
    return result;
  }

  const Arguments& arguments_;
  const Technology& technology_;
  const Netlist& netlist_;
  const Slews& slews_;
  const Simulator& simulator_;
};

std::ofstream open(const std::string& path) {
  std::ofstream out(path);
  if (!out) throw narrowgauge::Error("file " + path + " cannot be written");
  return out;
}

void write_nets(const std::string& path, const Netlist& netlist, const Counts& settled, const Counts* delayed) {
  std::ofstream out = open(path);
  for (std::size_t net = 2; net < netlist.net_names.size(); ++net) {
    out << netlist.net_names[net] << ' ' << settled.toggles(net);
    if (delayed != nullptr) out << ' ' << delayed->toggles(net);
    out << '\n';
  }
}

/// One line a cycle: the output ports in the netlist's order, hexadecimal.
void write_outputs(const std::string& path, const Netlist& netlist, const std::vector<std::uint8_t>& bits) {
  std::ofstream out = open(path);
  std::vector<const Port*> ports;
  for (const Port& port : netlist.ports) {
    if (!port.input) ports.push_back(&port);
  }
  for (const Port* port : ports) out << port->name << (port == ports.back() ? '\n' : ' ');
  for (std::size_t at = 0; at < bits.size();) {
    for (const Port* port : ports) {
      const std::size_t width = port->nets.size();
      for (std::size_t digit = (width + 3) / 4; digit-- > 0;) {
        int value = 0;
        for (std::size_t k = 0; k < 4 && digit * 4 + k < width; ++k) value |= bits[at + digit * 4 + k] << k;
        out << "0123456789abcdef"[value];
      }
      at += width;
      out << (port == ports.back() ? '\n' : ' ');
    }
  }
}

/// What the memories, whose energy is in no rung, do in a cycle.
ordered_json memories(const Netlist& netlist, const Counts& counts) {
  ordered_json result = ordered_json::array();
  for (std::size_t r = 0; r < netlist.rams.size(); ++r) {
    const Ram& ram = netlist.rams[r];
    const auto cycles = static_cast<double>(counts.cycles);
    result.push_back({{"name", ram.name},
                      {"width", ram.write_data.size()},
                      {"depth", std::size_t{1} << ram.write_address.size()},
                      {"reads", static_cast<double>(counts.ram_reads[r]) / cycles},
                      {"writes", static_cast<double>(counts.ram_writes[r]) / cycles}});
  }
  return result;
}

void run(const Arguments& arguments) {
  const Technology technology = read_technology(arguments.technology);
  const Netlist netlist = read_netlist(arguments.netlist, technology);
  const Slews slews = read_slews(arguments.slews, netlist, technology);
  Options options;
  options.warm_up = arguments.warm_up;
  options.threads = arguments.threads;
  const double tick_s = technology.tick;
  options.period = std::llround(arguments.period_s / tick_s);
  const Simulator simulator(netlist, options);

  double area = 0;
  std::size_t flip_flops = 0;
  for (const Instance& instance : netlist.instances) {
    area += instance.type->area;
    flip_flops += instance.type->flip_flop ? 1 : 0;
  }
  ordered_json result{{"technology", technology.name}, {"top", netlist.top}, {"cells", netlist.instances.size()},
                      {"flip_flops", flip_flops},      {"area_m2", area},    {"period_s", arguments.period_s}};
  const Report report(arguments, technology, netlist, slews, simulator);
  if (arguments.activity > 0) {
    result["global_activity"] = report.rung(global_activity(netlist, arguments.activity, 1'000'000), 0);
    std::cout << result.dump(1) << '\n';
    return;
  }

  if (!arguments.toggles.empty()) {
    if (arguments.cycles == 0) throw narrowgauge::Error("--toggles needs --cycles, those that it was counted in");
    result["cycles"] = arguments.cycles;
    const std::vector<std::uint64_t> edges = read_toggles(arguments.toggles, netlist);
    result["counted"] = report.rung(net_activity(netlist, edges, arguments.cycles), 0);
    std::cout << result.dump(1) << '\n';
    return;
  }

  Vectors vectors = read_vectors(arguments.stimulus);
  if (arguments.cycles > 0) vectors.cycles = std::min(vectors.cycles, arguments.cycles);
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::uint8_t> outputs;
  const Counts settled = simulator.run(vectors, arguments.outputs.empty() ? nullptr : &outputs);
  result["cycles"] = settled.cycles;
  if (!netlist.rams.empty()) result["memories"] = memories(netlist, settled);
  result["L2"] = report.rung(settled, seconds_since(begin));
  if (!arguments.outputs.empty()) write_outputs(arguments.outputs, netlist, outputs);
  Counts delayed;
  const bool with_delays = !arguments.sdf.empty();
  if (with_delays) {
    if (options.period <= 0) throw narrowgauge::Error("--sdf needs --period, in seconds");
    const Delays delays = read_sdf(arguments.sdf, netlist, tick_s);
    begin = std::chrono::steady_clock::now();
    delayed = simulator.run(vectors, delays);
    result["L3"] = report.rung(delayed, seconds_since(begin));
    result["glitch_factor"] =
        static_cast<double>(driven_toggles(netlist, delayed)) / static_cast<double>(driven_toggles(netlist, settled));
  }
  if (!arguments.nets.empty()) write_nets(arguments.nets, netlist, settled, with_delays ? &delayed : nullptr);
  if (!arguments.saif.empty()) {
    if (with_delays) {
      write_saif(arguments.saif, netlist, simulator, delayed, options.period, tick_s);
    } else {
      write_saif(arguments.saif, netlist, simulator, settled, 2, 1e-9);
    }
  }
  std::cout << result.dump(1) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{
      "Energy of a mapped netlist on a stimulus: settled transitions (L2), and with --sdf those with delays (L3).\n"
      "Prints JSON in SI units: joules per clock cycle, leakage in watts."};
  app.add_option("--technology", arguments.technology, "technology JSON, from tools/ngtools/power/technology.py")
      ->required();
  app.add_option("--netlist", arguments.netlist, "flat netlist, from Yosys' write_json")->required();
  auto* const stimulus = app.add_option("--stimulus", arguments.stimulus, ".stim file, from ng_stimulus");
  app.add_option("--sdf", arguments.sdf, "delays of the netlist; needs --period");
  app.add_option("--slews", arguments.slews, "transition times: lines 'instance/pin rise fall' in ns");
  app.add_option("--period", arguments.period_s, "clock period in seconds");
  app.add_option("--warm-up", arguments.warm_up, "cycles before counting starts")->capture_default_str();
  app.add_option("--cycles", arguments.cycles, "only the first N cycles of the stimulus, warm-up included; 0: all");
  app.add_option("--threads", arguments.threads, "0: one per core")->capture_default_str();
  app.add_option("--saif", arguments.saif, "write a SAIF file (of L3 with --sdf, else of L2)");
  app.add_option("--nets", arguments.nets, "write 'net toggles(L2) toggles(L3)', a line a net");
  app.add_option("--outputs", arguments.outputs, "write the output ports after every cycle");
  app.add_flag("--explain", arguments.explain, "add transitions and joules by cell type");
  app.add_option("--explain-instances", arguments.instances, "add those of the N most expensive instances");
  auto* const activity = app.add_option("--global-activity", arguments.activity,
                                        "instead of a stimulus: this many transitions a cycle on every net");
  stimulus->excludes(activity);
  auto* const toggles = app.add_option("--toggles", arguments.toggles,
                                       "instead of a stimulus: lines 'net transitions', counted in --cycles cycles");
  toggles->excludes(stimulus)->excludes(activity);
  CLI11_PARSE(app, argc, argv);
  try {
    if (arguments.stimulus.empty() && arguments.toggles.empty() && arguments.activity <= 0) {
      throw narrowgauge::Error("give --stimulus FILE, made with ng_stimulus, --toggles FILE, or --global-activity");
    }
    run(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ng_gatesim: " << error.what() << '\n';
    return 2;
  }
}
