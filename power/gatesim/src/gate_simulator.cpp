// SPDX-License-Identifier: Apache-2.0
#include "gatesim/gate_simulator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge::power::gate {
namespace {

using Index = std::uint32_t;

/// The row of power tables that holds for a pin in a state of the inputs: row_of[pin << inputs | state], -1 for none.
std::vector<std::int16_t> row_table(const std::vector<PowerRow>& rows, std::size_t inputs) {
  std::vector<std::int16_t> table(inputs << inputs, -1);
  for (std::size_t pin = 0; pin < inputs; ++pin) {
    for (std::size_t state = 0; state < std::size_t{1} << inputs; ++state) {
      for (std::size_t row = rows.size(); row-- > 0;) {
        if (rows[row].pin != static_cast<int>(pin)) continue;
        if (rows[row].when.empty() || rows[row].when[state] == '1') {
          table[(pin << inputs) + state] = static_cast<std::int16_t>(row);
        }
      }
    }
  }
  return table;
}

/// The row that holds in a state of the inputs, and of a flip-flop of what it holds: the highest bit. -1 for none.
int holding_row(const std::vector<PowerRow>& rows, int pin, std::size_t state) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].pin != pin) continue;
    const std::string& when = rows[row].when;
    if (when.empty() || when[state % when.size()] == '1') return static_cast<int>(row);
  }
  return -1;
}

/// An output of a combinational instance.
struct Gate {
  const char* truth = nullptr;
  const std::int16_t* row_of = nullptr;
  Index first_input = 0;
  Index inputs = 0;
  Index net = 0;
  Index cause = 0;  ///< its first row in Counts::causes
  Index instance = 0, output = 0;
};

struct Register {
  const char* next = nullptr;
  const char* clear = nullptr;
  const char* preset = nullptr;
  bool clear_wins = true;
  Index first_input = 0;
  Index inputs = 0;
  Index instance = 0;
  std::array<int, 2> nets{-1, -1};  ///< Q and its inverse
  std::array<int, 2> outputs{-1, -1};
  std::uint8_t start = 0;
  bool clock_has_conditions = false;   ///< rows of its clock pin have one
  bool output_has_conditions = false;  ///< rows of its outputs have one
};

struct Pin {
  Index owner = 0;
  Index pin = 0;
};

/// Lists of items by key, packed.
template <class T>
struct Lists {
  std::vector<Index> begin;
  std::vector<T> items;

  Lists() = default;
  Lists(std::size_t keys, const std::vector<std::pair<Index, T>>& pairs) : begin(keys + 1, 0), items(pairs.size()) {
    for (const auto& [key, item] : pairs) ++begin[key + 1];
    for (std::size_t i = 0; i < keys; ++i) begin[i + 1] += begin[i];
    std::vector<Index> at(begin.begin(), begin.end() - 1);
    for (const auto& [key, item] : pairs) items[at[key]++] = item;
  }
  std::span<const T> of(std::size_t key) const { return {items.data() + begin[key], items.data() + begin[key + 1]}; }
};

/// Values of all nets and registers between two cycles.
struct Snapshot {
  std::vector<std::uint8_t> value, state;
  std::vector<std::vector<std::uint8_t>> words;
};

}  // namespace

struct Simulator::Impl {
  const Netlist& netlist;
  Options options;
  std::vector<Gate> gates;  ///< in topological order
  std::vector<Register> registers;
  std::vector<Index> inputs;  ///< nets of the gates' and registers' inputs
  Lists<Pin> readers;         ///< net -> gates
  Lists<Pin> watchers;        ///< net -> instances whose input has conditional power rows
  std::map<std::pair<const CellType*, std::size_t>, std::vector<std::int16_t>> row_tables;
  std::map<std::pair<const CellType*, std::size_t>, std::vector<std::int16_t>> passive_tables;
  std::vector<Index> first_cause, first_passive;
  std::size_t cause_count = 0, passive_count = 0;
  int clock_net = -1;
  int reset_net = -1;
  std::vector<int> register_of;  ///< of each instance, -1 for logic

  Impl(const Netlist& from, Options with) : netlist(from), options(std::move(with)) {
    if (const Port* const port = netlist.find_port(options.clock)) clock_net = port->nets.at(0);
    if (const Port* const port = netlist.find_port(options.reset)) reset_net = port->nets.at(0);
    for (const Ram& ram : netlist.rams) {
      if (clock_net < 0 || ram.clock != clock_net)
        throw Error("memory " + ram.name + " is not clocked by the port " + options.clock);
    }
    collect();
    sort();
    connect();
  }

  std::span<const Index> inputs_of(const Gate& gate) const { return {inputs.data() + gate.first_input, gate.inputs}; }

  void collect() {
    for (Index n = 0; n < netlist.instances.size(); ++n) {
      const Instance& instance = netlist.instances[n];
      const CellType& type = *instance.type;
      first_cause.push_back(static_cast<Index>(cause_count));
      first_passive.push_back(static_cast<Index>(passive_count));
      const Index first_input = static_cast<Index>(inputs.size());
      const Index width = static_cast<Index>(instance.inputs.size());
      for (const int net : instance.inputs) inputs.push_back(static_cast<Index>(net));
      register_of.push_back(type.flip_flop ? static_cast<int>(registers.size()) : -1);
      if (type.flip_flop) {
        add_register(n, first_input);
        for (const OutputPin& output : type.outputs) cause_count += 2 * output.power.size();
      } else {
        for (Index o = 0; o < type.outputs.size(); ++o) {
          const auto [at, added] = row_tables.try_emplace({&type, o});
          if (added) at->second = row_table(type.outputs[o].power, width);
          const Index cause = static_cast<Index>(cause_count);
          cause_count += 2 * type.outputs[o].power.size();
          if (instance.outputs[o] < 0) continue;
          gates.push_back({type.outputs[o].function.data(), at->second.data(), first_input, width,
                           static_cast<Index>(instance.outputs[o]), cause, n, o});
        }
      }
      for (std::size_t pin = 0; pin < width; ++pin) passive_count += 2 * type.inputs[pin].power.size();
    }
  }

  void add_register(Index n, Index first_input) {
    const Instance& instance = netlist.instances[n];
    const CellType& type = *instance.type;
    const FlipFlop& ff = *type.flip_flop;
    const int clock = instance.inputs[static_cast<std::size_t>(ff.clock)];
    if (clock_net < 0 || clock != clock_net || ff.falling) {
      throw Error("flip-flop " + instance.name + " (" + type.name + ") is clocked by the " +
                  (ff.falling ? "falling" : "rising") + " edge of net " +
                  netlist.net_names[static_cast<std::size_t>(clock)] + "; expected the rising edge of the port " +
                  options.clock);
    }
    Register made{ff.next_state.data(),
                  ff.clear.empty() ? nullptr : ff.clear.data(),
                  ff.preset.empty() ? nullptr : ff.preset.data(),
                  ff.clear_wins,
                  first_input,
                  static_cast<Index>(instance.inputs.size()),
                  n,
                  {-1, -1},
                  {-1, -1},
                  ff.start()};
    const auto has_conditions = [&](const std::vector<PowerRow>& rows) {
      return std::any_of(rows.begin(), rows.end(), [](const PowerRow& row) { return !row.when.empty(); });
    };
    made.clock_has_conditions = has_conditions(type.inputs[static_cast<std::size_t>(ff.clock)].power);
    for (std::size_t o = 0; o < type.outputs.size(); ++o) {
      const std::size_t which = type.outputs[o].inverted ? 1 : 0;
      int& net = made.nets[which];
      if (instance.outputs[o] >= 0 && net >= 0) throw Error("flip-flop " + instance.name + " has two equal outputs");
      if (instance.outputs[o] < 0) continue;
      net = instance.outputs[o];
      made.outputs[which] = static_cast<int>(o);
      made.output_has_conditions = made.output_has_conditions || has_conditions(type.outputs[o].power);
    }
    registers.push_back(made);
  }

  /// Kahn's algorithm; ties by the netlist's order, so that the result is repeatable.
  void sort() {
    std::vector<std::pair<Index, Index>> edges;
    std::vector<int> driver(netlist.net_names.size(), -1);
    for (Index g = 0; g < gates.size(); ++g) driver[gates[g].net] = static_cast<int>(g);
    std::vector<Index> missing(gates.size(), 0);
    for (Index g = 0; g < gates.size(); ++g) {
      for (const Index net : inputs_of(gates[g])) {
        if (static_cast<int>(net) == clock_net) {
          throw Error("the clock feeds the logic cell " + netlist.instances[gates[g].instance].name +
                      "; gated clocks are not simulated");
        }
        if (driver[net] < 0) continue;
        edges.emplace_back(static_cast<Index>(driver[net]), g);
        ++missing[g];
      }
    }
    const Lists<Index> after(gates.size(), edges);
    std::vector<Index> order;
    for (Index g = 0; g < gates.size(); ++g) {
      if (missing[g] == 0) order.push_back(g);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const Index g : after.of(order[i])) {
        if (--missing[g] == 0) order.push_back(g);
      }
    }
    if (order.size() != gates.size()) {
      const auto stuck = std::find_if(missing.begin(), missing.end(), [](Index count) { return count != 0; });
      const Gate& gate = gates[static_cast<std::size_t>(stuck - missing.begin())];
      throw Error("the netlist has a combinational loop through or before " + netlist.instances[gate.instance].name);
    }
    std::vector<Gate> sorted;
    sorted.reserve(order.size());
    for (const Index g : order) sorted.push_back(gates[g]);
    gates = std::move(sorted);
  }

  void connect() {
    std::vector<std::pair<Index, Pin>> pairs;
    for (Index g = 0; g < gates.size(); ++g) {
      const auto nets = inputs_of(gates[g]);
      for (Index pin = 0; pin < nets.size(); ++pin) pairs.push_back({nets[pin], {g, pin}});
    }
    readers = Lists<Pin>(netlist.net_names.size(), pairs);
    pairs.clear();
    for (Index n = 0; n < netlist.instances.size(); ++n) {
      const Instance& instance = netlist.instances[n];
      for (Index pin = 0; pin < instance.inputs.size(); ++pin) {
        const auto& rows = instance.type->inputs[pin].power;
        const bool conditional =
            std::any_of(rows.begin(), rows.end(), [](const PowerRow& row) { return !row.when.empty(); });
        if (!conditional || instance.inputs[pin] == clock_net) continue;
        pairs.push_back({static_cast<Index>(instance.inputs[pin]), {n, pin}});
        if (register_of[n] >= 0) continue;
        const auto [at, added] = passive_tables.try_emplace({instance.type, pin});
        if (!added) continue;
        auto related = rows;
        for (PowerRow& row : related) row.pin = static_cast<int>(pin);
        at->second = row_table(related, instance.inputs.size());
      }
    }
    watchers = Lists<Pin>(netlist.net_names.size(), pairs);
  }

  Index first_register_input(const Register& reg) const { return reg.first_input; }

  /// The stimulus' column of each input net: (net, position in a cycle's bits).
  std::vector<std::pair<Index, std::size_t>> input_positions(const Vectors& vectors) const {
    std::vector<std::pair<Index, std::size_t>> result;
    std::size_t begin = 0;
    for (const auto& column : vectors.columns) {
      const Port* const port = netlist.find_port(column.name);
      if (port == nullptr || !port->input || port->nets.size() != static_cast<std::size_t>(column.width)) {
        throw Error("the stimulus has a port " + column.name + " of " + std::to_string(column.width) +
                    " bits, which is not an input of " + netlist.top + "; make it for this unit with ng_stimulus");
      }
      for (std::size_t bit = 0; bit < port->nets.size(); ++bit) {
        result.emplace_back(static_cast<Index>(port->nets[bit]), begin + bit);
      }
      begin += port->nets.size();
    }
    for (const Port& port : netlist.ports) {
      if (!port.input || port.nets.at(0) == clock_net || port.nets.at(0) == reset_net) continue;
      const bool given = std::any_of(vectors.columns.begin(), vectors.columns.end(),
                                     [&](const auto& column) { return column.name == port.name; });
      if (!given) throw Error("the stimulus has no values for the input " + port.name + " of " + netlist.top);
    }
    if (vectors.cycles <= options.warm_up) {
      throw Error("the stimulus has " + std::to_string(vectors.cycles) + " cycles, expected more than the " +
                  std::to_string(options.warm_up) + " of the warm-up");
    }
    return result;
  }
};

namespace {

/// Values, counters and what both ways of simulating do with them.
class Run {
 public:
  Run(const Simulator::Impl& from, const Vectors& vectors)
      : impl(from), vectors_(vectors), positions_(from.input_positions(vectors)) {
    const std::size_t nets = impl.netlist.net_names.size();
    value.assign(nets, 0);
    value[1] = 1;
    for (const Register& reg : impl.registers) state.push_back(reg.start);
    counts.rises.assign(nets, 0);
    counts.falls.assign(nets, 0);
    counts.high.assign(nets, 0);
    counts.causes.assign(impl.cause_count, 0);
    counts.passive.assign(impl.passive_count, 0);
    counts.ram_reads.assign(impl.netlist.rams.size(), 0);
    counts.ram_writes.assign(impl.netlist.rams.size(), 0);
    for (const Ram& ram : impl.netlist.rams) words.emplace_back(ram.write_data.size() << ram.write_address.size(), 0);
    changed_.assign(nets, 0);
  }

  /// Counting starts now: everything before is forgotten.
  void start(std::int64_t now) {
    for (auto* list :
         {&counts.rises, &counts.falls, &counts.causes, &counts.passive, &counts.ram_reads, &counts.ram_writes})
      std::fill(list->begin(), list->end(), 0);
    std::fill(counts.high.begin(), counts.high.end(), 0);
    std::fill(changed_.begin(), changed_.end(), now);
    counts.events = 0;
    flips = 0;
  }

  void finish(std::int64_t now) {
    for (std::size_t net = 0; net < value.size(); ++net) {
      if (value[net] != 0) counts.high[net] += now - changed_[net];
    }
  }

  /// A net changes.
  void flip(Index net, std::int64_t now) {
    ++flips;
    if (value[net] != 0) {
      counts.high[net] += now - changed_[net];
      ++counts.falls[net];
    } else {
      ++counts.rises[net];
    }
    changed_[net] = now;
    value[net] ^= 1;
    for (const Pin watcher : impl.watchers.of(net)) count_passive(watcher, net);
  }

  std::size_t state_of(Index first_input, Index inputs) const {
    std::size_t index = 0;
    for (Index k = 0; k < inputs; ++k) index |= std::size_t{value[impl.inputs[first_input + k]]} << k;
    return index;
  }

  /// An output rose or fell because of these inputs.
  void count_causes(const Gate& gate, std::uint32_t pins, std::size_t inputs_state, bool rise) {
    std::array<std::int16_t, 32> rows;
    std::size_t found = 0;
    for (; pins != 0; pins &= pins - 1) {
      const auto pin = static_cast<std::size_t>(std::countr_zero(pins));
      const std::int16_t row = gate.row_of[(pin << gate.inputs) + inputs_state];
      if (row >= 0) rows[found++] = row;
    }
    for (std::size_t i = 0; i < found; ++i) {
      counts.causes[gate.cause + 2 * static_cast<std::size_t>(rows[i]) + (rise ? 0 : 1)] += Counts::share / found;
    }
  }

  /// Value that an asynchronous input forces, or -1.
  int forced(const Register& reg, std::size_t index) const {
    const bool clear = reg.clear != nullptr && reg.clear[index] == '1';
    const bool preset = reg.preset != nullptr && reg.preset[index] == '1';
    if (clear && preset) return reg.clear_wins ? 0 : 1;
    return clear ? 0 : preset ? 1 : -1;
  }

  /// What the register holds after a clock edge.
  std::uint8_t next_state(const Register& reg) const {
    const std::size_t index = state_of(reg.first_input, reg.inputs);
    const int force = forced(reg, index);
    return force >= 0 ? static_cast<std::uint8_t>(force) : static_cast<std::uint8_t>(reg.next[index] - '0');
  }

  /// The clock rises: what the registers' clock pins, and the outputs that will change to these states, cost.
  void rise_clock(const std::vector<std::uint8_t>& next) {
    for (std::size_t r = 0; r < impl.registers.size(); ++r) {
      const Register& reg = impl.registers[r];
      if (reg.clock_has_conditions) count_clock(r, true);
      if (!reg.output_has_conditions || next[r] == state[r]) continue;
      const CellType& type = *impl.netlist.instances[reg.instance].type;
      const std::size_t index = register_index(r);
      for (std::size_t inverse = 0; inverse < 2; ++inverse) {
        if (reg.outputs[inverse] < 0) continue;
        const auto output = static_cast<std::size_t>(reg.outputs[inverse]);
        const int row = holding_row(type.outputs[output].power, type.flip_flop->clock, index);
        if (row < 0) continue;
        std::size_t at = impl.first_cause[reg.instance];
        for (std::size_t o = 0; o < output; ++o) at += 2 * type.outputs[o].power.size();
        const bool rises = (next[r] ^ inverse) != 0;
        counts.causes[at + 2 * static_cast<std::size_t>(row) + (rises ? 0 : 1)] += Counts::share;
      }
    }
    if (impl.clock_net >= 0) value[static_cast<std::size_t>(impl.clock_net)] = 1;
  }

  void fall_clock() {
    for (std::size_t r = 0; r < impl.registers.size(); ++r) {
      if (impl.registers[r].clock_has_conditions) count_clock(r, false);
    }
    if (impl.clock_net >= 0) value[static_cast<std::size_t>(impl.clock_net)] = 0;
  }

  /// The memories' clock edge: words are written, and these outputs will change.
  const std::vector<Index>& clock_rams() {
    ram_changes_.clear();
    for (std::size_t r = 0; r < words.size(); ++r) {
      const Ram& ram = impl.netlist.rams[r];
      const std::size_t width = ram.write_data.size();
      if (value[static_cast<std::size_t>(ram.read_enable)] != 0) {
        ++counts.ram_reads[r];
        const std::uint8_t* const word = words[r].data() + width * number(ram.read_address);
        for (std::size_t k = 0; k < width; ++k) {
          const auto net = static_cast<Index>(ram.read_data[k]);
          if (value[net] != word[k]) ram_changes_.push_back(net);
        }
      }
      if (value[static_cast<std::size_t>(ram.write_enable)] != 0) {
        ++counts.ram_writes[r];
        std::uint8_t* const word = words[r].data() + width * number(ram.write_address);
        for (std::size_t k = 0; k < width; ++k) word[k] = value[static_cast<std::size_t>(ram.write_data[k])];
      }
    }
    return ram_changes_;
  }

  std::span<const std::pair<Index, std::size_t>> positions() const { return positions_; }
  std::uint8_t input(std::size_t cycle, std::size_t position) const {
    return vectors_.bits[cycle * vectors_.width + position];
  }

  const Simulator::Impl& impl;
  std::vector<std::uint8_t> value, state;
  std::vector<std::vector<std::uint8_t>> words;  ///< of each memory, bit by bit
  Counts counts;
  std::uint64_t flips = 0;  ///< of all nets since the start

 private:
  std::size_t number(const std::vector<int>& nets) const {
    std::size_t result = 0;
    for (std::size_t k = 0; k < nets.size(); ++k) result |= std::size_t{value[static_cast<std::size_t>(nets[k])]} << k;
    return result;
  }

  /// Inputs of a register, and above them what it holds.
  std::size_t register_index(std::size_t r) const {
    const Register& reg = impl.registers[r];
    return state_of(reg.first_input, reg.inputs) | std::size_t{state[r]} << reg.inputs;
  }

  void count_clock(std::size_t r, bool rise) {
    const Register& reg = impl.registers[r];
    const CellType& type = *impl.netlist.instances[reg.instance].type;
    const auto pin = static_cast<std::size_t>(type.flip_flop->clock);
    count_row(reg.instance, pin, holding_row(type.inputs[pin].power, -1, register_index(r)), rise);
  }

  void count_row(std::size_t instance, std::size_t pin, int row, bool rise) {
    if (row < 0) return;
    std::size_t at = impl.first_passive[instance];
    for (std::size_t k = 0; k < pin; ++k) at += 2 * impl.netlist.instances[instance].type->inputs[k].power.size();
    counts.passive[at + 2 * static_cast<std::size_t>(row) + (rise ? 0 : 1)] += 1;
  }

  void count_passive(Pin watcher, Index net) {
    const Instance& instance = impl.netlist.instances[watcher.owner];
    if (const int r = impl.register_of[watcher.owner]; r >= 0) {
      const int row =
          holding_row(instance.type->inputs[watcher.pin].power, -1, register_index(static_cast<std::size_t>(r)));
      count_row(watcher.owner, watcher.pin, row, value[net] != 0);
      return;
    }
    const auto& table = impl.passive_tables.at({instance.type, watcher.pin});
    std::size_t index = 0;
    for (std::size_t k = 0; k < instance.inputs.size(); ++k) {
      index |= std::size_t{value[static_cast<std::size_t>(instance.inputs[k])]} << k;
    }
    const std::int16_t row = table[(std::size_t{watcher.pin} << instance.inputs.size()) + index];
    count_row(watcher.owner, watcher.pin, row, value[net] != 0);
  }

  const Vectors& vectors_;
  std::vector<std::pair<Index, std::size_t>> positions_;
  std::vector<std::int64_t> changed_;  ///< when each net last changed
  std::vector<Index> ram_changes_;
};

/// Settled values: gates that read a changed net are evaluated in topological order. Time runs in half cycles.
class SettledRun : public Run {
 public:
  using Run::Run;

  /// Calls before_edge(cycle) for each cycle, all settled, and once more after the last one.
  template <class BeforeEdge>
  void run(std::size_t cycles, std::size_t warm_up, const BeforeEdge& before_edge, std::vector<std::uint8_t>* outputs) {
    dirty_.assign(impl.gates.size() / 64 + 1, ~std::uint64_t{0});
    if (impl.gates.size() % 64 != 0)
      dirty_.back() = (std::uint64_t{1} << (impl.gates.size() % 64)) - 1;
    else
      dirty_.back() = 0;
    stamp_.assign(value.size(), 0);
    set_inputs(0);
    settle();
    force();  // reset is 0
    if (impl.reset_net >= 0) change(static_cast<Index>(impl.reset_net));
    settle();
    force();
    for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
      before_edge(cycle);
      if (cycle == warm_up) start(now_);
      if (cycle > warm_up && (cycle - warm_up) % Counts::batch == 0) end_batch();
      clock();
      settle();
      if (outputs != nullptr) take_outputs(*outputs);
      fall_clock();
      ++now_;
      ++phase_;
      if (cycle + 1 < cycles) set_inputs(cycle + 1);
      settle();
      ++now_;
      ++phase_;
    }
    before_edge(cycles);
    if ((cycles - warm_up) % Counts::batch == 0) end_batch();
    finish(now_);
    counts.cycles = cycles - warm_up;
  }

 private:
  void end_batch() {
    counts.batches.push_back(flips - batched_);
    batched_ = flips;
  }

  void change(Index net) {
    flip(net, now_);
    stamp_[net] = phase_;
    for (const Pin reader : impl.readers.of(net)) dirty_[reader.owner / 64] |= std::uint64_t{1} << (reader.owner % 64);
  }

  void set(Index net, std::uint8_t to) {
    if (value[net] != to) change(net);
  }

  void set_inputs(std::size_t cycle) {
    for (const auto& [net, position] : positions()) set(net, input(cycle, position));
  }

  void set_register(std::size_t r, std::uint8_t to) {
    state[r] = to;
    show_register(r);
  }

  void show_register(std::size_t r) {
    const std::uint8_t to = state[r];
    const auto& nets = impl.registers[r].nets;
    if (nets[0] >= 0) set(static_cast<Index>(nets[0]), to);
    if (nets[1] >= 0) set(static_cast<Index>(nets[1]), to ^ 1);
  }

  void clock() {
    next_.resize(state.size());
    for (std::size_t r = 0; r < state.size(); ++r) next_[r] = next_state(impl.registers[r]);
    rise_clock(next_);
    for (const Index net : clock_rams()) change(net);
    state = next_;  // all at once: what their inputs cost depends on it
    for (std::size_t r = 0; r < state.size(); ++r) show_register(r);
  }

  /// Asynchronous inputs, until nothing changes.
  void force() {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t r = 0; r < state.size(); ++r) {
        const Register& reg = impl.registers[r];
        const int to = forced(reg, state_of(reg.first_input, reg.inputs));
        const bool inverse_wrong = reg.nets[1] >= 0 && value[static_cast<std::size_t>(reg.nets[1])] == state[r];
        const bool wrong =
            inverse_wrong || (reg.nets[0] >= 0 && value[static_cast<std::size_t>(reg.nets[0])] != state[r]);
        if ((to < 0 || to == state[r]) && !wrong) continue;
        set_register(r, to < 0 ? state[r] : static_cast<std::uint8_t>(to));
        again = true;
      }
      settle();
    }
  }

  void settle() {
    for (std::size_t word = 0; word < dirty_.size(); ++word) {
      while (dirty_[word] != 0) {
        const std::size_t g = word * 64 + static_cast<std::size_t>(std::countr_zero(dirty_[word]));
        dirty_[word] &= dirty_[word] - 1;
        const Gate& gate = impl.gates[g];
        const std::size_t index = state_of(gate.first_input, gate.inputs);
        ++counts.events;
        const std::uint8_t to = static_cast<std::uint8_t>(gate.truth[index] - '0');
        if (to == value[gate.net]) continue;
        std::uint32_t pins = 0;
        const auto nets = impl.inputs_of(gate);
        for (std::size_t k = 0; k < nets.size(); ++k)
          pins |= static_cast<std::uint32_t>(stamp_[nets[k]] == phase_) << k;
        count_causes(gate, pins, index, to != 0);
        change(gate.net);
      }
    }
  }

  void take_outputs(std::vector<std::uint8_t>& outputs) const {
    for (const Port& port : impl.netlist.ports) {
      if (port.input) continue;
      for (const int net : port.nets) outputs.push_back(value[static_cast<std::size_t>(net)]);
    }
  }

  std::vector<std::uint64_t> dirty_;  ///< of the gates
  std::vector<std::uint64_t> stamp_;  ///< phase in which a net last changed
  std::vector<std::uint8_t> next_;
  std::uint64_t phase_ = 1;
  std::uint64_t batched_ = 0;
  std::int64_t now_ = 0;
};

/// Gates with the delays of their paths, event by event. Sources are the gates, then the registers' outputs.
class DelayRun : public Run {
 public:
  DelayRun(const Simulator::Impl& from, const Vectors& vectors, const Delays& delays)
      : Run(from, vectors), period_(from.options.period) {
    std::int64_t longest = 0;
    const auto add_delays = [&](Index instance, std::size_t output) {
      const std::size_t inputs = impl.netlist.instances[instance].inputs.size();
      first_delay_.push_back(static_cast<Index>(delay_.size()));
      for (std::size_t i = 0; i < inputs; ++i) {
        delay_.push_back(delays.paths[instance][output * inputs + i]);
        longest = std::max({longest, delay_.back().rise, delay_.back().fall});
      }
    };
    for (const Gate& gate : impl.gates) {
      add_delays(gate.instance, gate.output);
      net_.push_back(static_cast<int>(gate.net));
    }
    for (const Register& reg : impl.registers) {
      const CellType& type = *impl.netlist.instances[reg.instance].type;
      for (std::size_t inverse = 0; inverse < 2; ++inverse) {
        std::size_t output = 0;
        while (output + 1 < type.outputs.size() && type.outputs[output].inverted != (inverse == 1)) ++output;
        add_delays(reg.instance, output);
        net_.push_back(reg.nets[inverse]);
      }
    }
    sent_.assign(net_.size(), 0);
    wake_.assign(impl.gates.size(), -1);
    woken_.assign(impl.gates.size(), 0);
    waiting_.assign(impl.gates.size(), 0);
    cause_.assign(impl.gates.size(), 0);
    cause_state_.assign(impl.gates.size(), 0);
    slots_.resize(std::bit_ceil(static_cast<std::uint64_t>(longest) + 2));
    used_.assign((slots_.size() + 63) / 64, 0);
  }

  /// Cycles first to last - 1, from one settled state to the next.
  void run(const Snapshot& from, std::size_t first, std::size_t last, std::size_t cycles) {
    value = from.value;
    state = from.state;
    words = from.words;
    for (std::size_t s = 0; s < net_.size(); ++s) sent_[s] = net_[s] < 0 ? 0 : value[static_cast<std::size_t>(net_[s])];
    start(0);
    for (std::size_t cycle = first; cycle < last; ++cycle) {
      const std::int64_t edge = now_;
      clock();
      advance(edge + period_ / 2);
      fall_clock();
      if (cycle + 1 < cycles) {
        for (const auto& [net, position] : positions()) {
          if (value[net] != input(cycle + 1, position)) change(net);
        }
      }
      advance(edge + period_);
      if (pending_ != 0) {
        throw Error("cycle " + std::to_string(cycle) + " does not settle within the period of " +
                    std::to_string(period_) + " ticks; give a longer one");
      }
    }
    finish(now_);
    counts.cycles = last - first;
    if (counts.cycles == Counts::batch) counts.batches.push_back(flips);
  }

 private:
  static constexpr Index fire = 1;

  void push(std::int64_t time, Index item) {
    const std::size_t slot = static_cast<std::size_t>(time) & (slots_.size() - 1);
    slots_[slot].push_back(item);
    used_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    ++pending_;
  }

  void change(Index net) {
    flip(net, now_);
    for (const Pin reader : impl.readers.of(net)) {
      if (wake_[reader.owner] != now_) {
        wake_[reader.owner] = now_;
        woken_[reader.owner] = 0;
      }
      woken_[reader.owner] |= 1U << reader.pin;
      if (waiting_[reader.owner] != 0) continue;
      waiting_[reader.owner] = 1;
      push(now_, reader.owner * 2);
    }
  }

  void evaluate(Index g) {
    const Gate& gate = impl.gates[g];
    waiting_[g] = 0;
    ++counts.events;
    const std::size_t index = state_of(gate.first_input, gate.inputs);
    const std::uint8_t to = static_cast<std::uint8_t>(gate.truth[index] - '0');
    if (to == sent_[g]) return;
    sent_[g] = to;
    std::int64_t delay = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t pins = woken_[g]; pins != 0; pins &= pins - 1) {
      const PathDelay& path = delay_[first_delay_[g] + static_cast<Index>(std::countr_zero(pins))];
      delay = std::min(delay, to != 0 ? path.rise : path.fall);
    }
    cause_[g] = woken_[g];
    cause_state_[g] = static_cast<Index>(index);
    push(now_ + delay, g * 2 + fire);
  }

  void send(Index source) {
    const std::uint8_t to = sent_[source];
    const int net = net_[source];
    if (net < 0 || value[static_cast<std::size_t>(net)] == to) return;
    if (source < impl.gates.size()) count_causes(impl.gates[source], cause_[source], cause_state_[source], to != 0);
    change(static_cast<Index>(net));
  }

  void clock() {
    next_.resize(state.size());
    for (std::size_t r = 0; r < state.size(); ++r) next_[r] = next_state(impl.registers[r]);
    rise_clock(next_);
    for (std::size_t r = 0; r < state.size(); ++r) {
      const Register& reg = impl.registers[r];
      const std::uint8_t to = next_[r];
      if (to == state[r]) continue;
      state[r] = to;
      const auto pin = static_cast<Index>(impl.netlist.instances[reg.instance].type->flip_flop->clock);
      for (Index inverse = 0; inverse < 2; ++inverse) {
        if (reg.nets[inverse] < 0) continue;
        const Index source = static_cast<Index>(impl.gates.size() + 2 * r + inverse);
        sent_[source] = static_cast<std::uint8_t>(to ^ inverse);
        const PathDelay& path = delay_[first_delay_[source] + pin];
        push(now_ + (sent_[source] != 0 ? path.rise : path.fall), source * 2 + fire);
      }
    }
    for (const Index net : clock_rams()) change(net);
  }

  /// Everything before `until`, which is then the time.
  void advance(std::int64_t until) {
    while (pending_ != 0) {
      const std::int64_t time = next_time();
      if (time >= until) break;
      now_ = time;
      const std::size_t slot = static_cast<std::size_t>(now_) & (slots_.size() - 1);
      std::vector<Index>& items = slots_[slot];
      for (std::size_t i = 0; i < items.size(); ++i) {  // grows while it is worked off
        const Index item = items[i];
        if ((item & fire) != 0) {
          send(item / 2);
        } else {
          evaluate(item / 2);
        }
      }
      pending_ -= items.size();
      items.clear();
      used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    }
    now_ = until;
  }

  /// Of the first slot in use at or after now; the wheel is longer than any delay.
  std::int64_t next_time() const {
    const std::size_t mask = slots_.size() - 1;
    const std::size_t start = static_cast<std::size_t>(now_) & mask;
    std::size_t word = start / 64;
    std::uint64_t bits = used_[word] & (~std::uint64_t{0} << (start % 64));
    while (bits == 0) {
      word = word + 1 == used_.size() ? 0 : word + 1;
      bits = used_[word];
    }
    const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return now_ + static_cast<std::int64_t>((slot - start) & mask);
  }

  std::int64_t period_;
  std::vector<std::uint8_t> next_;
  std::int64_t now_ = 0;
  std::vector<Index> first_delay_;  ///< of each source, by input
  std::vector<PathDelay> delay_;
  std::vector<int> net_;            ///< of each source
  std::vector<std::uint8_t> sent_;  ///< value on its way to the net
  std::vector<std::int64_t> wake_;  ///< when inputs of a gate last changed, and which did then
  std::vector<std::uint32_t> woken_;
  std::vector<std::uint8_t> waiting_;  ///< evaluation is scheduled
  std::vector<std::uint32_t> cause_;   ///< of the value on its way
  std::vector<Index> cause_state_;
  std::vector<std::vector<Index>> slots_;  ///< time wheel: source * 2 + (0 evaluate, 1 fire)
  std::vector<std::uint64_t> used_;
  std::size_t pending_ = 0;
};

template <class T>
void add(std::vector<T>& to, const std::vector<T>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

Simulator::Simulator(const Netlist& netlist, const Options& options)
    : impl_(std::make_unique<Impl>(netlist, options)) {}
Simulator::~Simulator() = default;
std::size_t Simulator::first_cause(std::size_t instance) const { return impl_->first_cause.at(instance); }
std::size_t Simulator::first_passive(std::size_t instance) const { return impl_->first_passive.at(instance); }
int Simulator::clock_net() const { return impl_->registers.empty() ? -1 : impl_->clock_net; }

Counts Simulator::run(const Vectors& vectors, std::vector<std::uint8_t>* outputs) const {
  SettledRun run(*impl_, vectors);
  run.run(
      vectors.cycles, impl_->options.warm_up, [](std::size_t) {}, outputs);
  return std::move(run.counts);
}

Counts Simulator::run(const Vectors& vectors, const Delays& delays) const {
  // Pieces of the stimulus on several threads, each from the settled values before it.
  constexpr std::size_t piece = Counts::batch;
  const std::size_t warm_up = impl_->options.warm_up;
  const std::size_t counted = vectors.cycles - std::min(vectors.cycles, warm_up);
  const std::size_t pieces = (counted + piece - 1) / piece;
  std::vector<Snapshot> snapshots(pieces + 1);
  SettledRun settled(*impl_, vectors);
  settled.run(
      vectors.cycles, warm_up,
      [&](std::size_t cycle) {
        if (cycle < warm_up || ((cycle - warm_up) % piece != 0 && cycle != vectors.cycles)) return;
        snapshots[(cycle - warm_up + piece - 1) / piece] = {settled.value, settled.state, settled.words};
      },
      nullptr);
  std::vector<Counts> parts(pieces);
  detail::parallel_for(pieces, impl_->options.threads, [&](std::size_t i) {
    DelayRun run(*impl_, vectors, delays);
    const std::size_t first = warm_up + i * piece;
    const std::size_t last = std::min(first + piece, vectors.cycles);
    run.run(snapshots[i], first, last, vectors.cycles);
    for (std::size_t net = 0; net < run.value.size(); ++net) {
      if (run.value[net] == snapshots[i + 1].value[net]) continue;
      throw Error("with delays, net " + impl_->netlist.net_names[net] +
                  " does not have its settled value after cycle " + std::to_string(last - 1) +
                  "; the delays and the netlist do not belong together");
    }
    parts[i] = std::move(run.counts);
  });
  Counts total = std::move(parts.at(0));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    total.cycles += parts[i].cycles;
    total.events += parts[i].events;
    add(total.rises, parts[i].rises);
    add(total.falls, parts[i].falls);
    add(total.high, parts[i].high);
    add(total.causes, parts[i].causes);
    add(total.passive, parts[i].passive);
    add(total.ram_reads, parts[i].ram_reads);
    add(total.ram_writes, parts[i].ram_writes);
    total.batches.insert(total.batches.end(), parts[i].batches.begin(), parts[i].batches.end());
  }
  return total;
}

}  // namespace narrowgauge::power::gate
