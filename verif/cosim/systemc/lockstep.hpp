// SPDX-License-Identifier: Apache-2.0
// The kit of the lock-step benches: a Verilated unit and the SystemC module of the same unit get the same inputs; after
// every change of inputs and after every clock edge all outputs must agree.
//
// A bench can inject faults into the model (never into the RTL): `--self-test` runs it once a fault, in a process each,
// and fails unless every one of them is reported.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "../bench.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::bench {

using systemc::Port, systemc::PortWords;

/// Number of the fault in the model, from 1; 0: none.
inline int fault = 0;

/// The value of a Verilated port as the module's.
template <int width, class VerilatedPort>
Port<width> value_of(const VerilatedPort& port) {
  PortWords<width> words;
  for (unsigned i = 0; i < words.size(); ++i) {
    const unsigned lsb = 32 * i;
    words[i] = static_cast<std::uint32_t>(get_bits(port, lsb, std::min(32U, static_cast<unsigned>(width) - lsb)));
  }
  return systemc::port_of<width>(words);
}

template <int width>
std::string show(const Port<width>& value) {
  std::string text = "0x";
  const PortWords<width> words = systemc::words_of<width>(value);
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    char digits[12];
    std::snprintf(digits, sizeof digits, words.size() == 1 ? "%x" : "%08x", *word);
    text += digits;
  }
  return text;
}

/// A port of both: the Verilated unit's, and the module's with its signal. A module with a port of another width or
/// direction does not compile. The build generates Pins, all ports of a unit: tools/ngtools/pins.py.
template <int width, class Reference, class ModulePort>
struct Pin {
  Pin(const char* name, Reference rtl, ModulePort& module_port) : name(name), rtl(rtl) { module_port(signal); }
  const char* name;
  Reference rtl;
  sc_core::sc_signal<Port<width>> signal;
};
template <int width, class Reference>
using InPin = Pin<width, Reference, systemc::In<width>>;
template <int width, class Reference>
using OutPin = Pin<width, Reference, systemc::Out<width>>;

/// Outputs that mean something only while a condition holds.
class OnlyWhile {
 public:
  explicit OnlyWhile(bool condition, const auto&... pins) : condition_(condition), pins_{&pins...} {}
  /// Whether an output is to be compared now.
  bool allows(const void* pin) const { return condition_ || std::ranges::find(pins_, pin) == pins_.end(); }

 private:
  bool condition_;
  std::array<const void*, 16> pins_;
};

/// Probabilities of an input not being valid and of an output not being taken; benches go through all of them.
struct Traffic {
  double bubble, stall;
};
inline constexpr Traffic traffics[] = {{0, 0}, {0.5, 0}, {0, 0.5}, {0.3, 0.3}, {0.05, 0.9}};
inline const Traffic& traffic_at(std::uint64_t cycle, std::uint64_t period = 100) {
  return traffics[cycle / period % std::size(traffics)];
}

template <class Model>
class Lockstep {
 public:
  Lockstep(int argc, char** argv, std::string name) : bench(argc, argv, std::move(name)), dut(bench) {
    // Registers start at random values in the RTL, reset in the model; a falling edge of the reset makes them alike.
    dut->clk_i = 0;
    if constexpr (requires(Model & m) { m.rst_ni; }) dut->rst_ni = 1;
    rst_n = true;
    dut.eval();
  }

  /// Drives an input of both.
  template <int width, class Reference>
  void drive(InPin<width, Reference>& pin, const Port<width>& value) {
    const PortWords<width> words = systemc::words_of<width>(value);
    for (unsigned i = 0; i < words.size(); ++i)
      set_bits(pin.rtl, 32 * i, std::min(32U, static_cast<unsigned>(width) - 32 * i), words[i]);
    pin.signal = value;
  }
  template <int width, class Reference>
  void drive_random(InPin<width, Reference>& pin) {
    PortWords<width> words;
    for (auto& word : words) word = static_cast<std::uint32_t>(bench.rng().bits(32));
    drive(pin, systemc::port_of<width>(words));
  }
  void drive_random(auto& pins) {
    pins.each_input([&](auto& pin) { drive_random(pin); });
  }
  /// Drives the handshakes of a unit with one stream in and one out, under the names of docs/handshake.md.
  void drive(auto& pins, const Traffic& traffic) {
    drive(pins.valid_i, !bench.rng().chance(traffic.bubble));
    drive(pins.ready_i, !bench.rng().chance(traffic.stall));
  }

  /// Inputs take effect; the clock is low.
  void settle() {
    dut.eval();
    sc_core::sc_start(1, sc_core::SC_NS);
  }

  /// A clock cycle from low to low.
  void tick() {
    dut.tick();
    for (const bool level : {true, false}) {
      clk = level;
      sc_core::sc_start(1, sc_core::SC_NS);
    }
  }

  void set_reset(bool on) {
    dut->rst_ni = !on;
    rst_n = !on;
    settle();
  }

  /// Compares an output.
  template <int width, class Reference>
  void same(const OutPin<width, Reference>& pin) {
    const Port<width> expected = value_of<width>(pin.rtl);
    bench.expect(pin.signal.read() == expected, [&] {
      return std::string(pin.name) + ": the model has " + show<width>(pin.signal.read()) + ", the RTL " +
             show<width>(expected) + " in cycle " + std::to_string(dut.cycles());
    });
  }
  /// Compares all outputs of `pins`, but those that `parts` leave out now.
  void same(const auto& pins, const std::same_as<OnlyWhile> auto&... parts) {
    pins.each_output([&](const auto& pin) {
      if ((parts.allows(&pin) && ...)) same(pin);
    });
  }

  /// A reset before the first cycle, and now and then before another; whether there was one. compare() compares the
  /// outputs during it.
  bool maybe_reset(std::uint64_t cycle, auto compare, double chance = 0.002) {
    if (cycle != 0 && !bench.rng().chance(chance)) return false;
    set_reset(true);
    compare();
    for (std::uint64_t n = bench.rng().bits(2); n > 0; --n) tick();
    set_reset(false);
    return true;
  }

  /// The budget's clock cycles, with resets. In cycle i, stimulate(i) drives the inputs; compare() compares the
  /// outputs, before and after the edge; count() sees them after it.
  void run(auto stimulate, auto compare, auto count) {
    std::uint64_t resets = 0;
    for (std::uint64_t i = 0; i < bench.budget(); ++i) {
      resets += maybe_reset(i, compare);
      stimulate(i);
      settle();
      compare();
      tick();
      compare();
      count();
      bench.vector();
    }
    covered("reset", resets, 2);
  }

  /// What the stimulus must have done at least `least` times, if the budget is large enough for such statements.
  void covered(std::string_view what, std::uint64_t count, std::uint64_t least = 20) {
    if (bench.budget() < 2000) return;
    bench.expect(count >= least, [&] {
      return "stimulus: " + std::string(what) + " " + std::to_string(count) + " times; expected " +
             std::to_string(least) + " or more";
    });
  }

  Bench bench;
  Dut<Model> dut;
  sc_core::sc_signal<bool> clk{"clk"}, rst_n{"rst_n"};
};

/// sc_main: runs the bench, or, with --self-test as first argument, once without a fault and once with each.
inline int lockstep_main(int argc, char** argv, std::span<const char* const> faults, int (*run)(int, char**)) {
  if (argc < 2 || std::string_view(argv[1]) != "--self-test") return run(argc, argv);
  argv[1] = argv[0];
  int wrong = 0;
  for (fault = 0; fault <= static_cast<int>(faults.size()); ++fault) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      if (!std::freopen("/dev/null", "w", stdout)) _exit(3);
      _exit(run(argc - 1, argv + 1));
    }
    int status = 0;
    const int code = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const bool right = code == (fault ? 1 : 0);
    std::printf("model with fault '%s': %s, exit code %d\n", fault ? faults[fault - 1] : "none",
                right   ? "as expected"
                : fault ? "MISSED"
                        : "FAILED",
                code);
    wrong += !right;
  }
  std::printf("%zu faults, %d wrong\n", faults.size(), wrong);
  return faults.empty() || wrong ? 1 : 0;
}

}  // namespace narrowgauge::bench
