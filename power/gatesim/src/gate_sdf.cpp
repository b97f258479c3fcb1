// SPDX-License-Identifier: Apache-2.0
// Reader of the subset of SDF that static timing analysers write for a flat netlist without wires.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <unordered_map>

#include "gatesim/gate_simulator.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge::power::gate {
namespace {

constexpr std::int64_t no_delay = std::numeric_limits<std::int64_t>::min();

class SdfReader {
 public:
  SdfReader(std::string text, const Netlist& netlist, double tick_s) : text_(std::move(text)), netlist_(netlist) {
    delays_.tick_s = tick_s;
    for (std::size_t i = 0; i < netlist.instances.size(); ++i) {
      const Instance& instance = netlist.instances[i];
      indices_.emplace(instance.name, i);
      delays_.paths.emplace_back(instance.inputs.size() * instance.outputs.size(), PathDelay{no_delay, no_delay});
    }
  }

  Delays read() {
    while (next()) {
      if (token_ == "TIMESCALE") {
        scale();
      } else if (token_ == "INSTANCE") {
        next();
        instance_ = token_ == ")" ? none : find_instance(token_);
      } else if (token_ == "IOPATH") {
        io_path();
      } else if (token_ == "INTERCONNECT") {
        interconnect();
      } else if (token_ == "TIMINGCHECK") {
        skip();
      }
    }
    require_all();
    return std::move(delays_);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  bool next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (at_ >= text_.size()) return false;
    const std::size_t begin = at_;
    if (text_[at_] == '"') {
      at_ = text_.find('"', at_ + 1);
      if (at_ == std::string::npos) throw Error("a string does not end");
      ++at_;
    } else if (text_[at_] == '(' || text_[at_] == ')') {
      ++at_;
    } else {
      while (at_ < text_.size() && text_[at_] != '(' && text_[at_] != ')' &&
             std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
        ++at_;
      }
    }
    token_ = text_.substr(begin, at_ - begin);
    return true;
  }

  void expect() {
    if (!next()) throw Error("the file ends within an entry");
  }

  /// To the end of the entry whose keyword was just read.
  void skip() {
    for (int depth = 1; depth > 0;) {
      expect();
      depth += token_ == "(" ? 1 : token_ == ")" ? -1 : 0;
    }
  }

  void scale() {
    expect();
    std::string all = token_;
    expect();
    if (token_ != ")") all += token_;
    char* end = nullptr;
    const double value = std::strtod(all.c_str(), &end);
    const std::string unit = end;
    const double power = unit == "s"    ? 1
                         : unit == "ms" ? 1e-3
                         : unit == "us" ? 1e-6
                         : unit == "ns" ? 1e-9
                         : unit == "ps" ? 1e-12
                         : unit == "fs" ? 1e-15
                                        : 0;
    if (power == 0 || value <= 0) throw Error("TIMESCALE " + all + " is not understood");
    ticks_ = value * power / delays_.tick_s;
  }

  std::size_t find_instance(const std::string& name) const {
    std::string plain;
    for (const char c : name) {
      if (c != '\\') plain += c;
    }
    const auto found = indices_.find(plain);
    if (found == indices_.end()) throw Error("instance " + plain + " is not in the netlist");
    return found->second;
  }

  /// "CLK" or "(posedge CLK)"
  std::string pin() {
    expect();
    if (token_ != "(") return token_;
    expect();
    expect();
    std::string name = token_;
    expect();
    return name;
  }

  /// "(0.1::0.2)" as ticks: the last number, not below 0; no_delay if there is none.
  std::int64_t value() {
    expect();
    if (token_ == ")") return no_delay;
    const std::size_t colon = token_.rfind(':');
    const std::string last = colon == std::string::npos ? token_ : token_.substr(colon + 1);
    char* end = nullptr;
    const double ns = std::strtod(last.c_str(), &end);
    if (end == last.c_str() || *end != '\0') throw Error("delay '" + token_ + "' is not understood");
    expect();
    return std::max<std::int64_t>(0, std::llround(ns * ticks_));
  }

  void io_path() {
    const std::string from = pin();
    const std::string to = pin();
    std::vector<std::int64_t> values;
    for (expect(); token_ == "("; expect()) values.push_back(value());
    if (instance_ == none || values.empty()) throw Error("IOPATH " + from + " " + to + " has no instance or no delay");
    const CellType& type = *netlist_.instances[instance_].type;
    for (std::size_t o = 0; o < type.outputs.size(); ++o) {
      for (std::size_t i = 0; i < type.inputs.size(); ++i) {
        if (type.outputs[o].name != to || type.inputs[i].name != from) continue;
        // Conditional paths are joined to their slowest.
        PathDelay& path = delays_.paths[instance_][o * type.inputs.size() + i];
        path.rise = std::max(path.rise, values.front());
        path.fall = std::max(path.fall, values.size() > 1 ? values[1] : values.front());
        return;
      }
    }
    throw Error("instance " + netlist_.instances[instance_].name + " (" + type.name + ") has no path " + from + " -> " +
                to);
  }

  void interconnect() {
    const std::string from = pin();
    const std::string to = pin();
    for (expect(); token_ == "("; expect()) {
      if (value() > 0)
        throw Error("the delay of the wire " + from + " -> " + to + " is not 0; wires are not simulated");
    }
  }

  /// Every input of logic, and every clock, needs its path; inputs that are constants have none.
  void require_all() const {
    for (std::size_t n = 0; n < netlist_.instances.size(); ++n) {
      const Instance& instance = netlist_.instances[n];
      const CellType& type = *instance.type;
      for (std::size_t o = 0; o < type.outputs.size(); ++o) {
        if (instance.outputs[o] < 0) continue;
        for (std::size_t i = 0; i < type.inputs.size(); ++i) {
          const PathDelay& path = delays_.paths[n][o * type.inputs.size() + i];
          const bool used = type.flip_flop ? static_cast<int>(i) == type.flip_flop->clock : instance.inputs[i] > 1;
          if (used && (path.rise == no_delay || path.fall == no_delay)) {
            throw Error("there is no delay for " + instance.name + " (" + type.name + ") " + type.inputs[i].name +
                        " -> " + type.outputs[o].name);
          }
        }
      }
    }
  }

  std::string text_;
  const Netlist& netlist_;
  std::unordered_map<std::string, std::size_t> indices_;
  std::size_t at_ = 0;
  std::string token_;
  std::size_t instance_ = none;
  double ticks_ = 1e3;  ///< of one unit of the file; 1 ns unless stated
  Delays delays_;
};

}  // namespace

Delays read_sdf(const std::filesystem::path& path, const Netlist& netlist, double tick_s) {
  std::ifstream in(path);
  if (!in) throw Error("SDF file " + path.string() + " cannot be read");
  std::stringstream text;
  text << in.rdbuf();
  try {
    return SdfReader(std::move(text).str(), netlist, tick_s).read();
  } catch (const Error& error) {
    throw Error("SDF file " + path.string() + " is not usable: " + error.what());
  }
}

}  // namespace narrowgauge::power::gate
