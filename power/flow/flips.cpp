// SPDX-License-Identifier: Apache-2.0
// Counts how often each bit of each signal of a Verilated unit flips on a .stim file: values compared in the program,
// without a trace. tools/ngtools/power/rtl_flips.py builds it for a unit with all signals public; then Verilator's own
// table of variables names them, and nothing here depends on the unit.
//
//   flips FILE.stim WARM_UP     {"cycles": n, "signals": {"u_unit.acc_o": [[flips of bit 0, of bit 1, ...]], ...}}
//
// A cycle is that of ng_gatesim: rising edge of clk_i, then the next inputs; a flip is a bit that has settled to
// another value than a cycle before. The first WARM_UP cycles are not counted. A unit with an input tick_i gives each
// of its words one tick of time: it is ticked until nothing changes, and a second list has the flips of all ticks.
#include "flips.hpp"

#include <verilated_sym_props.h>
#include <verilated_syms.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error(why); }

/// A variable of the model; an array is the sequence of its elements. Verilator keeps each in `size` bytes, lowest
/// first.
struct Signal {
  std::uint8_t* data;
  std::size_t elements, width, size;
  std::size_t first = 0;  ///< of its bits among those of all signals

  void set(std::string_view hex) const {
    std::memset(data, 0, size);
    for (std::size_t digit = 0; digit < hex.size(); ++digit) {
      const char c = hex[hex.size() - 1 - digit];
      const int value = c <= '9' ? c - '0' : c - 'a' + 10;
      data[digit / 2] = static_cast<std::uint8_t>(data[digit / 2] | value << (digit % 2 * 4));
    }
  }
};

using Signals = std::map<std::string, Signal>;

/// The model's memory from its first to its last signal, compared as a whole.
class Memory {
 public:
  explicit Memory(Signals& signals) {
    begin_ = signals.begin()->second.data;
    const std::uint8_t* end = begin_;
    for (auto& [name, s] : signals) {
      begin_ = std::min(begin_, s.data);
      end = std::max<const std::uint8_t*>(end, s.data + s.elements * s.size);
      s.first = bits_;
      bits_ += s.elements * s.width;
    }
    owners_.resize((static_cast<std::size_t>(end - begin_) + 7) / 8 * 8);
    for (const auto& [name, s] : signals) {
      for (std::size_t e = 0; e < s.elements; ++e) {
        for (std::size_t k = 0; k * 8 < s.width; ++k) {
          const std::size_t rest = s.width - k * 8;  // Verilator may leave something above the top bit
          owners_[static_cast<std::size_t>(s.data - begin_) + e * s.size + k] = {s.first + e * s.width + k * 8,
                                                                                 rest < 8 ? (1U << rest) - 1 : 0xFF};
        }
      }
    }
    size_ = static_cast<std::size_t>(end - begin_);
  }

  std::size_t bits() const { return bits_; }

  /// Counts the bits that differ from `old`, if `counted`, and makes `old` like the memory. True if any did.
  bool compare(std::vector<std::uint8_t>& old, std::vector<std::uint64_t>& flips, bool counted) const {
    if (old.empty()) old.resize(owners_.size());
    bool changed = false;
    for (std::size_t word = 0; word < size_; word += 8) {
      std::uint64_t now = 0, then = 0;
      std::memcpy(&now, begin_ + word, std::min<std::size_t>(8, size_ - word));
      std::memcpy(&then, &old[word], 8);
      if (now == then) continue;
      for (std::uint64_t differ = now ^ then; differ != 0;) {
        const std::size_t k = static_cast<std::size_t>(std::countr_zero(differ)) / 8;
        const Owner& owner = owners_[word + k];
        unsigned bits = static_cast<unsigned>(differ >> (8 * k)) & owner.mask;
        differ &= ~(std::uint64_t{0xFF} << (8 * k));
        changed = changed || bits != 0;
        for (; counted && bits != 0; bits &= bits - 1)
          ++flips[owner.first + static_cast<std::size_t>(std::countr_zero(bits))];
      }
      std::memcpy(&old[word], &now, 8);
    }
    return changed;
  }

 private:
  struct Owner {
    std::size_t first = 0;
    unsigned mask = 0;  ///< bits of a byte that belong to a signal
  };
  std::uint8_t* begin_;
  std::size_t size_ = 0, bits_ = 0;
  std::vector<Owner> owners_;  ///< of each byte
};

/// "a__DOT__b__BRA__3__KET__" -> "a.b[3]"
std::string decoded(std::string name) {
  for (const auto& [code, text] : {std::pair{"__DOT__", "."}, {"__BRA__", "["}, {"__KET__", "]"}}) {
    for (std::size_t at = name.find(code); at != std::string::npos; at = name.find(code)) name.replace(at, 7, text);
  }
  return name;
}

Signal signal(const std::string& name, const VerilatedVar& var) {
  Signal s{static_cast<std::uint8_t*>(var.datap()), 1, 1, var.entSize()};
  if (var.dims() > var.udims()) s.width = static_cast<std::size_t>(var.packed().elements());
  for (int d = 1; d <= var.udims(); ++d) s.elements *= static_cast<std::size_t>(var.elements(d));
  if (s.size * 8 < s.width) fail("signal " + name + " has a type that is not understood");
  return s;
}

/// The ports, and all signals by name, without that of the wrapper; loop variables (of blocks without name) left out.
std::pair<Signals, Signals> signals_of(VerilatedContext& context, const std::string& top) {
  Signals ports, signals;
  for (const auto& [scope, content] : *context.scopeNameMap()) {
    if (content->varsp() == nullptr) continue;
    std::string path = decoded(scope);
    if (path.find("unnamedblk") != std::string::npos) continue;
    const bool is_port = path == "TOP";
    path = is_port || path == top ? "" : path.substr(top.size() + 1) + ".";
    for (const auto& [var_name, var] : *content->varsp()) {
      const std::string name = path + decoded(var_name);
      if (!var.isParam() && name.find("unnamedblk") == std::string::npos)
        (is_port ? ports : signals).emplace(name, signal(name, var));
    }
  }
  return {std::move(ports), std::move(signals)};
}

class Run {
 public:
  Run(const std::string& path, std::size_t warm_up, const std::string& top, VerilatedContext& context, void (*eval)())
      : Run(path, warm_up, signals_of(context, top), eval) {}

  void go() {
    for (bool more = true; more; ++cycles_) {
      const bool counted = cycles_ >= warm_up_;
      set("clk_i", true);
      settle(counted);
      set("clk_i", false);
      more = next_inputs();
      settle(counted);
      memory_.compare(settled_, flips_, counted);
    }
    if (cycles_ <= warm_up_) fail("stimulus " + path_ + " has no more cycles than are warmed up");
  }

  std::string json() const {
    std::ostringstream out;
    out << "{\"cycles\": " << cycles_ - warm_up_ << ", \"signals\": {";
    const char* comma = "";
    for (const auto& [name, s] : signals_) {
      out << comma << "\n\"" << name << "\": [" << list(flips_, s);
      if (ticks_) out << ", " << list(all_flips_, s);
      out << ']';
      comma = ",";
    }
    out << "}}\n";
    return out.str();
  }

 private:
  Run(const std::string& path, std::size_t warm_up, std::pair<Signals, Signals> found, void (*eval)())
      : in_(path),
        path_(path),
        warm_up_(warm_up),
        eval_(eval),
        ports_(std::move(found.first)),
        signals_(std::move(found.second)),
        memory_(signals_),
        flips_(memory_.bits()),
        all_flips_(memory_.bits()),
        ticks_(ports_.contains("tick_i")) {
    std::string header;
    if (!std::getline(in_, header)) fail("stimulus " + path + " cannot be read");
    // The names in the header, in order.
    const std::string key = "\"name\":\"";
    for (std::size_t at = header.find(key); at != std::string::npos; at = header.find(key, at)) {
      at += key.size();
      columns_.push_back(&port(header.substr(at, header.find('"', at) - at)));
    }
    if (columns_.empty()) fail("stimulus " + path + " has no ports in its first line");
    next_inputs();
    if (ports_.contains("rst_ni")) {  // registers see its edges
      for (const bool level : {true, false, true}) {
        set("rst_ni", level);
        settle(false);
      }
    }
    settle(false);
  }

  static std::string list(const std::vector<std::uint64_t>& flips, const Signal& s) {
    std::ostringstream out;
    for (std::size_t i = 0; i < s.elements * s.width; ++i) out << (i == 0 ? "[" : ", ") << flips[s.first + i];
    out << ']';
    return out.str();
  }

  const Signal& port(const std::string& name) const {
    const auto found = ports_.find(name);
    if (found == ports_.end()) fail("the unit has no port " + name);
    return found->second;
  }

  void set(const char* name, bool level) {
    port(name).set(level ? "1" : "0");
    eval_();
  }

  bool next_inputs() {
    std::string line, word;
    if (!std::getline(in_, line)) return false;
    std::istringstream words(line);
    for (const Signal* column : columns_) {
      if (!(words >> word) || word.size() > (column->width + 3) / 4)
        fail("stimulus " + path_ + " has the line " + line);
      column->set(word);
    }
    return true;
  }

  void settle(bool counted) {
    eval_();
    if (!ticks_) return;
    constexpr int limit = 10000;
    for (int tick = 0; memory_.compare(before_, all_flips_, counted) || tick == 0; ++tick) {
      if (tick == limit) fail("the unit has not settled after 10000 ticks");
      set("tick_i", true);
      set("tick_i", false);
    }
  }

  std::ifstream in_;
  std::string path_;
  std::size_t warm_up_, cycles_ = 0;
  void (*eval_)();
  Signals ports_, signals_;
  Memory memory_;
  std::vector<std::uint8_t> settled_, before_;  ///< the memory a cycle and a tick ago
  std::vector<std::uint64_t> flips_, all_flips_;
  std::vector<const Signal*> columns_;
  bool ticks_;
};

}  // namespace

int count_flips(int argc, char** argv, const char* top, VerilatedContext& context, void (*eval)()) {
  if (argc != 3) {
    std::fputs("usage: flips FILE.stim WARM_UP\n", stderr);
    return 2;
  }
  try {
    eval();
    Run run(argv[1], std::stoul(argv[2]), top, context, eval);
    run.go();
    std::fputs(run.json().c_str(), stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flips: %s\n", error.what());
    return 2;
  }
}
