// SPDX-License-Identifier: Apache-2.0
// A board at its pins: products through clock, rx and tx, by the firmware's driver, equal to the golden model's. The
// design is `ng_board`, or with NG_BITSTREAM the Verilog that a bitstream was read back to (synth/image.py), where
// `fault_i` inverts one LUT. NG_CLOCKS_PER_BIT and NG_CLOCK_HZ are those of the image.
#include <CLI/CLI.hpp>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "Vdut.h"
#include "narrowgauge/engines/board_engine.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "pin_line.hpp"

namespace {

using namespace narrowgauge;

class Board {
 public:
  explicit Board(unsigned fault) {
#ifdef NG_BITSTREAM
    top_.fault_i = fault;
#else
    if (fault != 0) throw Error("a fault was asked for; only a bitstream has them");
    top_.rst_ni = 0;
    for (int i = 0; i < 4; ++i) clock(true);
    top_.rst_ni = 1;
#endif
  }
  bool clock(bool rx) {
    top_.rx_i = rx;
    edge(false);
    edge(true);
    return top_.tx_o;
  }

 private:
  void edge(bool level) {
#ifdef NG_BITSTREAM
    top_.clk_12mhz_i = level;
#else
    top_.clk_i = level;
#endif
    top_.eval();
  }
  Vdut top_;
};

QuantizedMatrix drawn(std::size_t rows, std::size_t k, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> x(rows * k);
  for (float& value : x) value = normal(random);
  return quantize(x, rows, k, Axis::rows, QuantizeOptions{});
}

using Shapes = std::vector<std::array<std::size_t, 3>>;  // rows, columns, K

/// Clocks that products through the pins take, or none where one is not the model's. A board that is silent, or not
/// done after `most` clocks, is an Error.
std::optional<std::uint64_t> clocks_of(unsigned fault, std::uint64_t seed, const Shapes& shapes, std::uint64_t most,
                                       bool tells) {
  Board board(fault);
  auto line =
      std::make_unique<board::PinLine>([&](bool rx) { return board.clock(rx); }, NG_CLOCKS_PER_BIT, NG_CLOCK_HZ, most);
  board::PinLine& pins = *line;
  pins.idle(100);  // the PLL locks
  // Nothing but the board holds an answer back.
  const auto engine =
      make_board_engine(std::move(line), "the pins of a simulated board", {.shortest = std::chrono::microseconds(100)});
  std::mt19937_64 random(seed);
  std::size_t numbers = 0;
  for (const auto& [rows, cols, k] : shapes) {
    const QuantizedMatrix a = drawn(rows, k, random), b = drawn(cols, k, random);
    const EngineResult result = engine->gemm(a, b);
    const std::vector<float> golden = gemm(a, b);
    for (std::size_t i = 0; i < golden.size(); ++i) {
      if (std::bit_cast<std::uint32_t>(golden[i]) == std::bit_cast<std::uint32_t>(result.c[i])) continue;
      if (tells) {
        std::printf("element %zu of %zu x %zu x %zu is %g; expected %g\n", i, rows, cols, k, result.c[i], golden[i]);
      }
      return std::nullopt;
    }
    numbers += golden.size();
  }
  // The board repeats a product by itself: every result is in the hash.
  if (tells) {
    constexpr std::uint32_t times = 200;
    const QuantizedMatrix a = drawn(4, 128, random), b = drawn(4, 128, random);
    auto& loop = dynamic_cast<BoardLoop&>(*engine);
    const std::vector<float> c = loop.hold(a, b).c;
    std::uint32_t hash = 0;
    for (std::uint32_t i = 0; i < times; ++i)
      for (const float x : c) hash = board::result_hash_next(hash, std::bit_cast<std::uint32_t>(x));
    loop.start_loop(times);
    LoopState state = loop.loop_state();
    while (state.running) state = loop.loop_state();
    const double beats = times * 4.0 * 4.0 * 128.0 / 16.0;
    std::printf("%u repetitions of 4 x 4 x 128: hash %08x, the model's %08x; a beat in %.1f %% of %u clocks\n", times,
                state.hash, hash, 100 * beats / state.cycles, state.cycles);
    if (c != gemm(a, b) || state.hash != hash || state.times != times || beats < 0.95 * state.cycles)
      return std::nullopt;
  }
  if (tells) {
    std::printf("%zu results, bit-exact, in %llu clocks, %.3f s of the board\n", numbers,
                static_cast<unsigned long long>(pins.clocks()), std::chrono::duration<double>(pins.now()).count());
  }
  return pins.broken() == 0 ? std::optional(pins.clocks()) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("products through the pins of a simulated board");
  std::uint64_t seed = 1;
  unsigned faults = 0, least = 0;
  app.add_option("--seed", seed, "of the operands");
  app.add_option("--faults", faults, "LUTs that are inverted, one after the other");
  app.add_option("--least", least, "how many of them must be noticed");
  CLI11_PARSE(app, argc, argv);
  try {
    constexpr std::uint64_t many = 1'000'000'000;
    const auto start = std::chrono::steady_clock::now();
    if (!clocks_of(0, seed, {{4, 4, 64}, {3, 5, 80}, {1, 1, 16}}, many, true)) return 1;
    std::printf("%.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    const Shapes one{{4, 4, 64}};
    const std::uint64_t usual = faults == 0 ? 0 : clocks_of(0, seed, one, many, true).value_or(0);
    unsigned noticed = 0;
    for (unsigned fault = 1; fault <= faults; ++fault) {
      bool alive = false;
      try {
        alive = clocks_of(fault, seed, one, 2 * usual, false).has_value();
      } catch (const Error&) {  // the board is silent, says what is not so, or is not done
      }
      noticed += !alive;
      std::printf("LUT %u inverted: %s\n", fault, alive ? "nobody notices" : "noticed");
      std::fflush(stdout);
    }
    if (faults != 0) std::printf("%u of %u inverted LUTs were noticed\n", noticed, faults);
    return noticed < least;
  } catch (const std::exception& error) {
    std::cerr << "board_pins: " << error.what() << "\n";
    return 1;
  }
}
