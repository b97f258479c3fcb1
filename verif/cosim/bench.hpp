// SPDX-License-Identifier: Apache-2.0
// The kit every RTL bench is built on. One bench source runs on three designs that share their ports: the RTL, the
// synthesized netlist, and the RTL with injected faults (which has one more input, `mutsel`, driven here).
//
//   #include "Vdut.h"
//   #include "bench.hpp"
//   int main(int argc, char** argv) {
//     using namespace narrowgauge::bench;
//     Bench bench(argc, argv, "dot_e2m1");
//     Dut<Vdut> dut(bench);
//     for (std::uint64_t i = 0; i < bench.budget(); ++i) {
//       const std::uint64_t a = bench.rng().bits(64);
//       bench.vector();
//       dut->a_i = a;
//       dut.eval();
//       bench.expect_eq("dot_o", get_signed(dut->dot_o, 0, 13), golden(a), [&] { return "a_i = " + hex(a); });
//     }
//     return bench.finish();
//   }
//
// Options (argument, else environment, else default):
//   --seed S      NG_SEED        seed of Bench::rng(); 1
//   --vectors N   NG_VECTORS     Bench::budget(): random vectors to run, and the size up to which sweeps are exhaustive
//   --mutant K    NG_MUTANT      injected fault to switch on; 0 = none
//   --errors E    NG_MAX_ERRORS  stop after E errors; 20
//   --wave FILE   NG_WAVE        write an FST wave (configure with -DNG_WAVES=ON)
// Exit code: 0 all compares agreed; 1 at least one error; 2 bad usage, or a run that compared nothing.
#pragma once

#include <verilated.h>
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "owed.hpp"

namespace narrowgauge::bench {

// ---------------------------------------------------------------- ports

// A port of a Verilated model is an unsigned integer up to 64 bits, and an array of 32-bit words (VlWide) above.

/// Bits [lsb, lsb + width) of a port, zero-extended; width 1..64.
template <class Port>
std::uint64_t get_bits(const Port& port, unsigned lsb, unsigned width) {
  const std::uint64_t mask = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if constexpr (std::integral<Port>) {
    return (static_cast<std::uint64_t>(port) >> lsb) & mask;
  } else {
    std::uint64_t value = 0;
    for (unsigned done = 0; done < width;) {
      const unsigned word = (lsb + done) / 32, offset = (lsb + done) % 32;
      value |= (static_cast<std::uint64_t>(port[word]) >> offset) << done;
      done += 32 - offset;
    }
    return value & mask;
  }
}

/// Bits [lsb, lsb + width) of a port as a two's-complement number; width 1..64.
template <class Port>
std::int64_t get_signed(const Port& port, unsigned lsb, unsigned width) {
  const unsigned shift = 64 - width;
  return static_cast<std::int64_t>(get_bits(port, lsb, width) << shift) >> shift;
}

/// The same for terms and accumulators wider than 64 bits; width 1..128.
template <class Port>
__int128 get_signed128(const Port& port, unsigned lsb, unsigned width) {
  if (width <= 64) return get_signed(port, lsb, width);
  const auto high = static_cast<__int128>(get_signed(port, lsb + 64, width - 64));
  return (high << 64) | static_cast<__int128>(get_bits(port, lsb, 64));
}

/// Drives bits [lsb, lsb + width) of a port; the other bits keep their value. width 1..64.
template <class Port>
void set_bits(Port& port, unsigned lsb, unsigned width, std::uint64_t value) {
  const std::uint64_t mask = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if constexpr (std::integral<Port>) {
    const std::uint64_t kept = static_cast<std::uint64_t>(port) & ~(mask << lsb);
    port = static_cast<Port>(kept | ((value & mask) << lsb));
  } else {
    value &= mask;
    for (unsigned done = 0; done < width;) {
      const unsigned word = (lsb + done) / 32, offset = (lsb + done) % 32;
      const unsigned count = std::min(32 - offset, width - done);
      const auto part = static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << offset);
      port[word] = (port[word] & ~part) | (static_cast<std::uint32_t>((value >> done) << offset) & part);
      done += count;
    }
  }
}

/// Drives bits [lsb, lsb + width) with a two's-complement number wider than 64 bits; width 1..128.
template <class Port>
void set_bits128(Port& port, unsigned lsb, unsigned width, __int128 value) {
  set_bits(port, lsb, width < 64 ? width : 64, static_cast<std::uint64_t>(value));
  if (width > 64) set_bits(port, lsb + 64, width - 64, static_cast<std::uint64_t>(value >> 64));
}

inline std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

inline std::string dec(__int128 value) {
  std::string digits;
  auto magnitude = value < 0 ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(magnitude % 10)));
    magnitude /= 10;
  } while (magnitude != 0);
  return (value < 0 ? "-" : "") + digits;
}

// ---------------------------------------------------------------- random numbers

/// Seeded generator; the same seed gives the same stimulus on RTL, netlist and mutants.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t operator()() { return engine_(); }
  /// Uniform in [0, 2^count); count 0..64.
  std::uint64_t bits(unsigned count) { return count == 0 ? 0 : engine_() >> (64 - count); }
  /// Uniform in [0, bound), bound < 2^32 (the bias of 2^-32 does not matter to a stimulus).
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((engine_() >> 32) * bound) >> 32); }
  /// True with the given probability.
  bool chance(double probability) { return static_cast<double>(engine_() >> 11) * 0x1p-53 < probability; }
  /// Fills a port of `width` bits.
  template <class Port>
  void fill(Port& port, unsigned width) {
    for (unsigned lsb = 0; lsb < width; lsb += 64) set_bits(port, lsb, std::min(64U, width - lsb), engine_());
  }

 private:
  std::mt19937_64 engine_;
};

// ---------------------------------------------------------------- the checker

class Bench {
 public:
  /// `default_vectors` is the budget when neither argument nor environment gives one.
  Bench(int argc, char** argv, std::string name, std::uint64_t default_vectors = 100'000)
      : name_(std::move(name)),
        seed_(option(argc, argv, "--seed", "NG_SEED", 1)),
        budget_(option(argc, argv, "--vectors", "NG_VECTORS", default_vectors)),
        max_errors_(option(argc, argv, "--errors", "NG_MAX_ERRORS", 20)),
        mutant_(option(argc, argv, "--mutant", "NG_MUTANT", 0)),
        wave_(text_option(argc, argv, "--wave", "NG_WAVE")),
        rng_(seed_) {
    for (int i = 1; i < argc; i += 2) {
      const std::string_view arg = argv[i];
      const bool known =
          arg == "--seed" || arg == "--vectors" || arg == "--errors" || arg == "--mutant" || arg == "--wave";
      if (!known || i + 1 == argc) usage("unknown or incomplete option '" + std::string(arg) + "'");
    }
    std::printf("%s: seed %llu, budget %llu vectors%s\n", name_.c_str(), static_cast<unsigned long long>(seed_),
                static_cast<unsigned long long>(budget_),
                mutant_ ? (", mutant " + std::to_string(mutant_)).c_str() : "");
  }

  Rng& rng() { return rng_; }
  std::uint64_t seed() const { return seed_; }
  std::uint64_t mutant() const { return mutant_; }
  const std::string& wave() const { return wave_; }

  /// Random vectors asked for; the bench divides them among its kinds of stimulus as it sees fit.
  std::uint64_t budget() const { return budget_; }

  /// Step through an input space of `size` points: 1 (exhaustive) when the budget covers it, else the odd step that
  /// fits.
  ///   for (uint64_t x = 0, step = bench.sweep_step("a x b", n); x < n; x += step)
  std::uint64_t sweep_step(std::string_view what, std::uint64_t size) {
    const std::uint64_t step = size <= budget_ ? 1 : (size / std::max<std::uint64_t>(budget_, 1)) | 1;
    std::printf("%s: sweep of %s, %llu points, %s\n", name_.c_str(), std::string(what).c_str(),
                static_cast<unsigned long long>(size),
                step == 1 ? "exhaustive" : ("every " + std::to_string(step) + "th").c_str());
    return step;
  }

  /// Counts one stimulus; call it once for each vector (combinational unit) or transaction (clocked unit).
  void vector() { ++vectors_; }

  /// Compares; on a difference prints both and the inputs, which `inputs()` (returning std::string) describes.
  template <class Got, class Expected, class Inputs>
  void expect_eq(std::string_view what, const Got& got, const Expected& expected, Inputs&& inputs) {
    ++compares_;
    if (got == static_cast<Got>(expected)) [[likely]]
      return;
    error(std::string(what) + ": got " + show(got) + ", expected " + show(static_cast<Got>(expected)) + " for " +
          inputs());
  }

  /// A condition that must hold (handshake laws, "drained at the end").
  template <class Message>
  void expect(bool holds, Message&& message) {
    ++compares_;
    if (!holds) [[unlikely]]
      error(message());
  }

  void error(const std::string& text) {
    ++errors_;
    std::printf("%s: ERROR at vector %llu: %s\n", name_.c_str(), static_cast<unsigned long long>(vectors_),
                text.c_str());
    if (errors_ >= max_errors_) {
      std::printf("%s: stopped after %llu errors\n", name_.c_str(), static_cast<unsigned long long>(errors_));
      std::fflush(stdout);
      std::_Exit(close());
    }
  }

  /// A scoreboard begins: finish() fails while it expects something.
  void owe(const Owed& board) { boards_.push_back(&board); }

  /// A scoreboard ends: what it still expects will never be compared.
  void settle(const Owed& board) {
    if (!finished_) expect_settled(board, "when the scoreboard ended");
    std::erase(boards_, &board);
  }

  void expect_settled(const Owed& board, std::string_view when) {
    expect(board.owed() == 0, [&] {
      return std::to_string(board.owed()) + " " + board.what() + " never came; expected 0 missing " + std::string(when);
    });
  }

  /// The closing line and the exit code. A run without vectors or compares is a failure, and so is one that ends while
  /// a scoreboard expects results.
  int finish() {
    for (const Owed* board : boards_) expect_settled(*board, "at the end");
    finished_ = true;
    return close();
  }

 private:
  int close() {
    std::printf("%s: ran %llu vectors, %llu compares, %llu errors, seed %llu\n", name_.c_str(),
                static_cast<unsigned long long>(vectors_), static_cast<unsigned long long>(compares_),
                static_cast<unsigned long long>(errors_), static_cast<unsigned long long>(seed_));
    int code = errors_ ? 1 : 0;
    if (errors_ == 0 && (vectors_ == 0 || compares_ == 0)) {
      std::printf("%s: FAILED: nothing was compared; raise --vectors or NG_VECTORS\n", name_.c_str());
      code = 2;
    }
    std::fflush(stdout);
    return code;
  }

  template <class T>
  static std::string show(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "1" : "0";
    } else if constexpr (std::is_same_v<T, __int128> || std::is_signed_v<T>) {
      return dec(value);
    } else if constexpr (std::is_same_v<T, unsigned __int128>) {
      return hex(static_cast<std::uint64_t>(value >> 64)) + "_" + hex(static_cast<std::uint64_t>(value));
    } else {
      return hex(value) + " (" + dec(static_cast<__int128>(value)) + ")";
    }
  }

  [[noreturn]] void usage(const std::string& problem) const {
    std::fprintf(
        stderr,
        "%s: %s; expected [--seed S] [--vectors N] [--errors E] [--mutant K] [--wave FILE] with unsigned decimal "
        "numbers\n",
        name_.c_str(), problem.c_str());
    std::exit(2);
  }

  static std::string text_option(int argc, char** argv, std::string_view flag, const char* variable) {
    for (int i = 1; i + 1 < argc; i += 2)
      if (flag == argv[i]) return argv[i + 1];
    const char* value = std::getenv(variable);
    return value ? value : "";
  }

  std::uint64_t option(int argc, char** argv, std::string_view flag, const char* variable,
                       std::uint64_t fallback) const {
    const std::string text = text_option(argc, argv, flag, variable);
    if (text.empty()) return fallback;
    if (text.size() > 19 || text.find_first_not_of("0123456789") != std::string::npos)
      usage(std::string(flag) + " (or " + variable + ") is '" + text + "'");
    return std::strtoull(text.c_str(), nullptr, 10);
  }

  std::string name_;
  std::uint64_t seed_, budget_, max_errors_, mutant_;
  std::string wave_;
  Rng rng_;
  std::vector<const Owed*> boards_;
  bool finished_ = false;
  std::uint64_t vectors_ = 0, compares_ = 0, errors_ = 0;
};

// ---------------------------------------------------------------- the design under test

/// Owns a Verilated model. Combinational units: set inputs, eval(), read outputs.
/// Clocked units: reset(), then per cycle set inputs, eval() (settles combinational outputs with the clock low), read,
/// tick().
template <class Model>
class Dut {
 public:
  explicit Dut(const Bench& bench) {
    // Registers start at random values, so a missing reset shows.
    context_.randReset(2);
    context_.randSeed(static_cast<int>(bench.seed() & 0x7FFFFFFF));
    model_ = std::make_unique<Model>(&context_);
    constexpr bool has_mutants = requires(Model & m) { m.mutsel; };
    if constexpr (has_mutants) {
      model_->mutsel = static_cast<std::remove_reference_t<decltype(model_->mutsel)>>(bench.mutant());
    } else if (bench.mutant() != 0) {
      std::fprintf(stderr,
                   "this build has no injected faults, so mutant %llu cannot be selected; use the mutants build\n",
                   static_cast<unsigned long long>(bench.mutant()));
      std::exit(2);
    }
    if (!bench.wave().empty()) {
#if VM_TRACE
      context_.traceEverOn(true);
      wave_ = std::make_unique<VerilatedFstC>();
      model_->trace(wave_.get(), 99);
      wave_->open(bench.wave().c_str());
#else
      std::fprintf(stderr, "this build cannot write waves; configure with -DNG_WAVES=ON to get '%s'\n",
                   bench.wave().c_str());
      std::exit(2);
#endif
    }
  }
  ~Dut() {
    model_->final();
#if VM_TRACE
    if (wave_) wave_->close();
#endif
  }
  Dut(const Dut&) = delete;
  Dut& operator=(const Dut&) = delete;

  Model* operator->() { return model_.get(); }
  Model& operator*() { return *model_; }

  void eval() {
    model_->eval();
#if VM_TRACE
    if (wave_) wave_->dump(context_.time());
    context_.timeInc(1);
#endif
  }

  /// One clock cycle: rising edge with the inputs as they are, then clock low again.
  void tick() {
    model_->clk_i = 1;
    eval();
    model_->clk_i = 0;
    eval();
    ++cycles_;
  }

  /// Asserts rst_ni (asynchronous) for `cycles` clocks and releases it with the clock low.
  void reset(int cycles = 2) {
    model_->clk_i = 0;
    model_->rst_ni = 1;
    eval();
    model_->rst_ni = 0;
    eval();
    for (int i = 0; i < cycles; ++i) tick();
    model_->rst_ni = 1;
    eval();
  }

  /// A reset without a clock edge, which is enough: ready and valid of the unit's streams have the values given.
  void reset_without_edge(Bench& bench, bool ready = true, bool valid = false) {
    reset(0);
    const auto when = [] { return "after a reset without a clock edge"; };
    if constexpr (requires { model_->ready_o; }) bench.expect_eq("ready_o", bool(model_->ready_o), ready, when);
    if constexpr (requires { model_->valid_o; }) bench.expect_eq("valid_o", bool(model_->valid_o), valid, when);
    if constexpr (requires { model_->s_axis_tready_o; })
      bench.expect_eq("s_axis_tready_o", bool(model_->s_axis_tready_o), ready, when);
    if constexpr (requires { model_->m_axis_tvalid_o; })
      bench.expect_eq("m_axis_tvalid_o", bool(model_->m_axis_tvalid_o), valid, when);
  }

  std::uint64_t cycles() const { return cycles_; }

 private:
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> wave_;
#endif
  std::uint64_t cycles_ = 0;
};

// ---------------------------------------------------------------- the handshake

/// The 32-bit words of a port, for the payload of HandshakeChecker.
template <class Port>
void append_words(std::vector<std::uint32_t>& words, const Port& port) {
  if constexpr (std::integral<Port>) {
    words.push_back(static_cast<std::uint32_t>(port));
    if constexpr (sizeof(Port) > 4) words.push_back(static_cast<std::uint32_t>(port >> 32));
  } else {
    words.insert(words.end(), port.data(), port.data() + sizeof(port) / 4);
  }
}

/// Checks an output stream once per cycle, before the clock edge: valid stays until ready, and the data with it.
/// Also counts beats, so that a bench can assert that the stream was exercised.
class HandshakeChecker {
 public:
  HandshakeChecker(Bench& bench, std::string stream) : bench_(bench), stream_(std::move(stream)) {}

  /// Payload ports follow valid and ready: sample(dut->valid_o, dut->ready_i, dut->data_o, dut->last_o).
  template <class... Ports>
  void sample(bool valid, bool ready, const Ports&... payload) {
    current_.clear();
    (append_words(current_, payload), ...);
    if (waiting_) {
      bench_.expect(valid, [&] { return stream_ + ": valid fell before ready"; });
      bench_.expect(!valid || current_ == held_,
                    [&] { return stream_ + ": data changed while valid waited for ready"; });
    }
    waiting_ = valid && !ready;
    stalls_ += waiting_;
    beats_ += valid && ready;
    std::swap(current_, held_);
  }

  /// No combinational path from ready_i to valid_o: flips ready, settles, compares, restores.
  template <class D, class Ready, class Valid>
  void probe_independence(D& dut, Ready& ready, const Valid& valid) {
    const auto valid_before = valid;
    ready = !ready;
    dut.eval();
    bench_.expect(valid == valid_before, [&] { return stream_ + ": valid follows ready combinationally"; });
    ready = !ready;
    dut.eval();
  }

  /// After a reset.
  void clear() { waiting_ = false; }

  std::uint64_t beats() const { return beats_; }
  std::uint64_t stalls() const { return stalls_; }

 private:
  Bench& bench_;
  std::string stream_;
  std::vector<std::uint32_t> current_, held_;
  bool waiting_ = false;
  std::uint64_t beats_ = 0, stalls_ = 0;
};

}  // namespace narrowgauge::bench
