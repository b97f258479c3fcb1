// SPDX-License-Identifier: Apache-2.0
#include "gatesim/gate_netlist.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "narrowgauge/error.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/json.hpp"

namespace narrowgauge::power::gate {
namespace {

using nlohmann::json;

json read_json(const std::filesystem::path& path) {
  try {
    return io::read_json(path.string());
  } catch (const io::Error& error) {
    throw Error(error.what());
  }
}

/// Cell of the axis that holds x, and where in it; outside, the nearest cell.
struct Place {
  std::size_t index = 0;
  double part = 0;
};

Place place(const std::vector<double>& axis, double x) {
  if (axis.size() < 2) return {};
  std::size_t i = 0;
  while (i + 2 < axis.size() && x >= axis[i + 1]) ++i;
  return {i, (x - axis[i]) / (axis[i + 1] - axis[i])};
}

PowerTable table(const json& from) {
  PowerTable result{from.at("load"), from.at("slew"), from.at("values")};
  const std::size_t size = std::max<std::size_t>(1, result.load.size()) * std::max<std::size_t>(1, result.slew.size());
  if (result.values.size() != size)
    throw Error("a power table has " + std::to_string(result.values.size()) + " values");
  return result;
}

std::string truth(const json& from) { return from.is_null() ? "" : from.get<std::string>(); }

int find_input(const CellType& type, const std::string& name) {
  for (std::size_t i = 0; i < type.inputs.size(); ++i) {
    if (type.inputs[i].name == name) return static_cast<int>(i);
  }
  throw Error("cell " + type.name + " has no input '" + name + "'");
}

std::vector<PowerRow> rows(const json& from, const CellType& type) {
  std::vector<PowerRow> result;
  for (const json& row : from) {
    result.push_back({row.contains("pin") ? find_input(type, row.at("pin")) : -1, truth(row.at("when")),
                      table(row.at("rise")), table(row.at("fall"))});
  }
  return result;
}

CellType cell_type(const std::string& name, const json& from) {
  CellType type{name, from.at("area_m2"), from.at("leakage_w"), {}, {}, {}};
  for (const json& pin : from.at("inputs")) type.inputs.push_back({pin.at("name"), pin.at("capacitance_f"), {}});
  for (std::size_t i = 0; i < type.inputs.size(); ++i) {
    type.inputs[i].power = rows(from.at("inputs")[i].at("power"), type);
  }
  for (const json& pin : from.at("outputs")) {
    type.outputs.push_back({pin.at("name"), pin.at("capacitance_f"), pin.value("function", ""),
                            pin.value("inverted", false), rows(pin.at("power"), type)});
  }
  if (from.contains("ff")) {
    const json& ff = from.at("ff");
    type.flip_flop = {find_input(type, ff.at("clock")), ff.at("falling"),
                      truth(ff.at("next_state")),       truth(ff.at("clear")),
                      truth(ff.at("preset")),           ff.at("clear_wins")};
  }
  return type;
}

/// Net of one bit of a connection: a number, or a constant as a string.
class Nets {
 public:
  explicit Nets(std::vector<std::string>& names) : names_(names) { names_ = {"0", "1"}; }

  int of(const json& bit) {
    if (bit.is_string()) return bit.get<std::string>() == "1" ? 1 : 0;  // x: any value is right
    const auto [at, added] = ids_.try_emplace(bit.get<int>(), static_cast<int>(names_.size()));
    if (added) names_.emplace_back();
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<int, int> ids_;
};

Ram ram(const std::string& name, const json& connections, Nets& nets) {
  const auto bus = [&](const char* pin) {
    if (!connections.contains(pin) || connections.at(pin).empty())
      throw Error("pin " + name + "/" + pin + " is not connected");
    std::vector<int> result;
    for (const json& bit : connections.at(pin)) result.push_back(nets.of(bit));
    return result;
  };
  return {name,           bus("clk_i")[0], bus("we_i")[0], bus("re_i")[0],
          bus("waddr_i"), bus("wdata_i"),  bus("raddr_i"), bus("rdata_o")};
}

Netlist netlist(const json& from, const Technology& technology) {
  const json& modules = from.at("modules");
  const json* top = nullptr;
  Netlist result;
  for (const auto& [name, module] : modules.items()) {
    if (module.value("attributes", json::object()).contains("blackbox")) continue;
    if (top != nullptr) throw Error("it has two modules, " + result.top + " and " + name + "; flatten it");
    top = &module;
    result.top = name;
  }
  if (top == nullptr) throw Error("it has no module");

  Nets nets(result.net_names);
  for (const auto& [name, port] : top->at("ports").items()) {
    Port made{name, port.at("direction") == "input", {}};
    for (const json& bit : port.at("bits")) made.nets.push_back(nets.of(bit));
    result.ports.push_back(std::move(made));
  }
  for (const auto& [name, cell] : top->at("cells").items()) {
    const std::string type_name = cell.at("type");
    if (type_name == "ng_ram") {
      result.rams.push_back(ram(name, cell.at("connections"), nets));
      continue;
    }
    const auto found = technology.cells.find(type_name);
    if (found == technology.cells.end()) {
      const auto why = technology.skipped.find(type_name);
      throw Error("instance " + name + " is a '" + type_name + "', which technology " + technology.name +
                  (why == technology.skipped.end() ? " does not have; map the netlist to its cells"
                                                   : " cannot simulate: " + why->second));
    }
    Instance instance{name, &found->second, {}, {}};
    const json& connections = cell.at("connections");
    const auto net = [&](const std::string& pin) {
      return connections.contains(pin) && !connections.at(pin).empty() ? nets.of(connections.at(pin).at(0)) : -1;
    };
    for (const InputPin& pin : instance.type->inputs) {
      instance.inputs.push_back(net(pin.name));
      if (instance.inputs.back() < 0) throw Error("pin " + name + "/" + pin.name + " is not connected");
    }
    for (const OutputPin& pin : instance.type->outputs) instance.outputs.push_back(net(pin.name));
    result.instances.push_back(std::move(instance));
  }
  // The shortest public name of a net; Yosys' own names start with '_' here (rename -enumerate).
  for (const auto& [name, wire] : top->at("netnames").items()) {
    const json& bits = wire.at("bits");
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (bits[i].is_string()) continue;
      std::string full = bits.size() == 1 ? name : name + "[" + std::to_string(i) + "]";
      std::string& known = result.net_names[static_cast<std::size_t>(nets.of(bits[i]))];
      const bool hidden = full.front() == '_';
      const bool known_hidden = !known.empty() && known.front() == '_';
      if (known.empty() || (known_hidden && !hidden) || (known_hidden == hidden && full.size() < known.size())) {
        known = std::move(full);
      }
    }
  }

  // Names without driver and reader are what optimization left of a bus.
  std::vector<int> drivers(result.net_names.size(), 0);
  std::vector<bool> read(result.net_names.size(), false);
  drivers[0] = drivers[1] = 1;
  result.load.assign(result.net_names.size(), 0.0);
  for (const Port& port : result.ports) {
    for (const int net : port.nets) {
      if (port.input) {
        ++drivers[static_cast<std::size_t>(net)];
      } else {
        read[static_cast<std::size_t>(net)] = true;
      }
    }
  }
  for (const Instance& instance : result.instances) {
    for (std::size_t i = 0; i < instance.inputs.size(); ++i) {
      result.load[static_cast<std::size_t>(instance.inputs[i])] += instance.type->inputs[i].capacitance;
      read[static_cast<std::size_t>(instance.inputs[i])] = true;
    }
    for (std::size_t i = 0; i < instance.outputs.size(); ++i) {
      if (instance.outputs[i] < 0) continue;
      ++drivers[static_cast<std::size_t>(instance.outputs[i])];
      result.load[static_cast<std::size_t>(instance.outputs[i])] += instance.type->outputs[i].capacitance;
    }
  }
  for (const Ram& ram : result.rams) {
    for (const int net : ram.read_data) ++drivers[static_cast<std::size_t>(net)];
    for (const std::vector<int>& bus : {ram.write_address, ram.write_data, ram.read_address})
      for (const int net : bus) read[static_cast<std::size_t>(net)] = true;
    read[static_cast<std::size_t>(ram.write_enable)] = read[static_cast<std::size_t>(ram.read_enable)] = true;
  }
  for (std::size_t net = 0; net < drivers.size(); ++net) {
    if (drivers[net] > 1 || (drivers[net] == 0 && read[net])) {
      throw Error("net " + result.net_names[net] + " has " + std::to_string(drivers[net]) + " drivers, expected one");
    }
  }
  return result;
}

}  // namespace

double PowerTable::at(double load_f, double slew_s) const {
  const std::size_t columns = std::max<std::size_t>(1, slew.size());
  const Place row = place(load, load_f);
  const Place column = place(slew, slew_s);
  const auto along = [&](std::size_t r) {
    const double* const from = values.data() + r * columns + column.index;
    return slew.size() < 2 ? from[0] : from[0] + (from[1] - from[0]) * column.part;
  };
  const double first = along(row.index);
  return load.size() < 2 ? first : first + (along(row.index + 1) - first) * row.part;
}

Technology read_technology(const std::filesystem::path& path) {
  const json from = read_json(path);
  try {
    if (from.at("schema") != 1) throw Error("its schema is " + from.at("schema").dump() + ", expected 1");
    Technology technology{from.at("name"),
                          from.at("liberty_sha256"),
                          from.at("voltage_v"),
                          from.at("input_slew_s"),
                          from.value("tick_s", 1e-12),
                          {},
                          {}};
    if (!(technology.tick > 0)) throw Error("its tick_s is not above 0");
    for (const auto& [name, cell] : from.at("cells").items()) technology.cells.emplace(name, cell_type(name, cell));
    for (const auto& [name, why] : from.at("skipped").items()) technology.skipped.emplace(name, why);
    return technology;
  } catch (const std::exception& error) {
    throw Error("technology file " + path.string() + " is not usable: " + error.what() +
                "; make it anew with tools/ngtools/power/technology.py");
  }
}

const Port* Netlist::find_port(std::string_view name) const {
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.name == name; });
  return found == ports.end() ? nullptr : &*found;
}

Netlist read_netlist(const std::filesystem::path& path, const Technology& technology) {
  const json from = read_json(path);
  try {
    return netlist(from, technology);
  } catch (const std::exception& error) {
    throw Error("netlist " + path.string() + " is not usable: " + error.what());
  }
}

}  // namespace narrowgauge::power::gate
