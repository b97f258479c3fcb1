// SPDX-License-Identifier: Apache-2.0
// A board at its pins: products through clock, rx and tx, by the firmware's driver, equal to the golden model's. The
// design is `ng_board`, or with NG_BITSTREAM the Verilog that a bitstream was read back to (synth/image.py), where
// `fault_i` inverts one LUT. NG_CLOCKS_PER_BIT, NG_CLOCK_HZ and the clock's pin, NG_CLOCK, are those of the image, and
// NG_STREAM_WIDTH is the tile's.
// With --frames, products over a line that damages bytes, while the board is reset in the middle of some.
#include <CLI/CLI.hpp>
#include <algorithm>
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
#ifndef NG_BITSTREAM
#include "faulty_line.hpp"
#endif

namespace {

using namespace narrowgauge;

class Board {
 public:
  explicit Board(unsigned fault) {
#ifdef NG_BITSTREAM
    top_.fault_i = fault;
#else
    if (fault != 0) throw Error("a fault was asked for; only a bitstream has them");
    reset_in(0);
    for (int i = 0; i < 4; ++i) clock(true);
#endif
  }
#ifndef NG_BITSTREAM
  /// After so many clocks, for four.
  void reset_in(std::uint64_t clocks) { until_reset_ = clocks + 5; }
  void reset_never() { until_reset_ = 0; }
  /// Whether it came.
  bool was_reset() const { return until_reset_ == 0; }
#endif
  bool clock(bool rx) {
#ifndef NG_BITSTREAM
    if (until_reset_ != 0) --until_reset_;
    top_.rst_ni = until_reset_ == 0 || until_reset_ > 4;
#endif
    top_.rx_i = rx;
    edge(false);
    edge(true);
    return top_.tx_o;
  }

 private:
  void edge(bool level) {
#ifdef NG_BITSTREAM
    top_.NG_CLOCK = level;
#else
    top_.clk_i = level;
#endif
    top_.eval();
  }
  Vdut top_;
#ifndef NG_BITSTREAM
  std::uint64_t until_reset_ = 0;
#endif
};

QuantizedMatrix drawn(std::size_t rows, std::size_t k, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> x(rows * k);
  for (float& value : x) value = normal(random);
  return quantize(x, rows, k, Axis::rows, QuantizeOptions{});
}

using Shape = std::array<std::size_t, 3>;  // rows, columns, K

/// Rows, columns and lanes of a board's array.
Shape array_of(const BoardLoop& loop) {
  Shape array{};
  if (std::sscanf(loop.array().c_str(), "%zux%zux%zu", &array[0], &array[1], &array[2]) != 3)
    throw Error("the board's array is \"" + loop.array() + "\"; expected rows x columns x lanes");
  return array;
}

/// Clocks that products through the pins take, or none where one is not the model's. A board that is silent, or not
/// done after `most` clocks, is an Error. Without shapes, one product that has work for every cell of the array.
std::optional<std::uint64_t> clocks_of(unsigned fault, std::uint64_t seed, std::vector<Shape> shapes,
                                       std::uint64_t most, bool tells) {
  Board board(fault);
  auto line =
      std::make_unique<board::PinLine>([&](bool rx) { return board.clock(rx); }, NG_CLOCKS_PER_BIT, NG_CLOCK_HZ, most);
  board::PinLine& pins = *line;
  pins.idle(100);  // the PLL locks
  // Nothing but the board holds an answer back.
  const auto engine =
      make_board_engine(std::move(line), "the pins of a simulated board", {.shortest = std::chrono::microseconds(100)});
  auto& loop = dynamic_cast<BoardLoop&>(*engine);
  const auto [array_rows, array_cols, lanes] = array_of(loop);
  if (shapes.empty())
    shapes.push_back({std::max<std::size_t>(4, array_rows), std::max<std::size_t>(4, array_cols), 64});
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
    // Blocks of the whole array, whose sums take longer than their results take to leave, two a clock.
    const std::size_t rows = 2 * array_rows, cols = 2 * array_cols,
                      k = lanes * std::max<std::size_t>(8, array_rows * array_cols * 2 / 3);
    const QuantizedMatrix a = drawn(rows, k, random), b = drawn(cols, k, random);
    const std::vector<float> c = loop.hold(a, b).c;
    std::vector<std::uint32_t> leaving;  // block after block, each row of which fills words of the stream with zeros
    constexpr std::size_t word = NG_STREAM_WIDTH / 32;
    for (std::size_t block = 0; block < rows * cols; block += array_rows * cols)
      for (std::size_t j = 0; j < cols; j += array_cols)
        for (std::size_t row = 0; row < array_rows; ++row)
          for (std::size_t at = 0; at < (array_cols + word - 1) / word * word; ++at)
            leaving.push_back(at < array_cols ? std::bit_cast<std::uint32_t>(c[block + row * cols + j + at]) : 0);
    std::uint32_t hash = 0;
    for (std::uint32_t i = 0; i < times; ++i)
      for (const std::uint32_t word : leaving) hash = board::result_hash_next(hash, word);
    loop.start_loop(times);
    LoopState state = loop.loop_state();
    while (state.running) state = loop.loop_state();
    const double beats = times * 2.0 * 2.0 * static_cast<double>(k / lanes);
    std::printf("%u repetitions of %zu x %zu x %zu: hash %08x, the model's %08x; a beat in %.1f %% of %u clocks\n",
                times, rows, cols, k, state.hash, hash, 100 * beats / state.cycles, state.cycles);
    if (c != gemm(a, b) || state.hash != hash || state.times != times || beats < 0.95 * state.cycles)
      return std::nullopt;
  }
  if (tells) {
    std::printf("%zu results, bit-exact, in %llu clocks, %.3f s of the board\n", numbers,
                static_cast<unsigned long long>(pins.clocks()), std::chrono::duration<double>(pins.now()).count());
  }
  return pins.broken() == 0 ? std::optional(pins.clocks()) : std::nullopt;
}

#ifndef NG_BITSTREAM
/// Products over a line of which a share of the bytes arrives wrong, until so many frames have passed. Every third time
/// the board is reset in the middle, of which an Error must tell if the product is not there already. False where a
/// number is wrong, or where nobody tells of a reset.
bool endures(std::uint64_t seed, std::uint64_t least, double rate) {
  Board board(0);
  auto line = std::make_unique<board::FaultyLine>(
      std::make_unique<board::PinLine>([&](bool rx) { return board.clock(rx); }, NG_CLOCKS_PER_BIT, NG_CLOCK_HZ,
                                       std::uint64_t{100'000'000'000}),
      rate, seed);
  board::FaultyLine& way = *line;
  const auto engine =
      make_board_engine(std::move(line), "the pins of a simulated board", {.shortest = std::chrono::microseconds(100)});
  std::mt19937_64 random(seed);
  std::uint64_t frames = 0, again = 0, products = 0, resets = 0, payload = 0;
  bool resetting = false;
  double seconds = 0;
  while (frames < least) {
    const std::size_t rows = 1 + random() % 12, cols = 1 + random() % 12, k = 16 + random() % 240;
    const QuantizedMatrix a = drawn(rows, k, random), b = drawn(cols, k, random);
    if (++products % 3 == 0) {
      board.reset_in(random() % 300'000);
      resetting = true;
    }
    bool caught = false;
    try {
      const EngineResult result = engine->gemm(a, b);
      if (result.c != gemm(a, b)) {
        std::printf("a product of %zu x %zu x %zu is not the model's\n", rows, cols, k);
        return false;
      }
      frames += result.link->frames;
      again += result.link->repeated;
      seconds += result.link->seconds;
      payload += result.operand_bytes + result.result_bytes;
    } catch (const Error& error) {
      if (!resetting) {
        std::printf("without a reset: %s\n", error.what());
        return false;
      }
      caught = true;
      ++resets;
    }
    // One that comes behind the last answer is told of by the next product.
    resetting = resetting && board.was_reset() && !caught;
    board.reset_never();
  }
  std::printf(
      "%.1f %% of the bytes wrong: %llu frames of %llu products, %llu frames sent again, %llu bytes; %llu products "
      "were reset; %.2f s of the board, in which operands and results are %.2f of what the line carries\n",
      100 * rate, static_cast<unsigned long long>(frames), static_cast<unsigned long long>(products),
      static_cast<unsigned long long>(again), static_cast<unsigned long long>(way.sent()),
      static_cast<unsigned long long>(resets), seconds,
      static_cast<double>(payload) * std::chrono::duration<double>(way.byte_time()).count() / seconds);
  return resets != 0;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("products through the pins of a simulated board");
  std::uint64_t seed = 1;
  unsigned faults = 0, least = 0;
  app.add_option("--seed", seed, "of the operands");
  app.add_option("--faults", faults, "LUTs that are inverted, one after the other");
  app.add_option("--least", least, "how many of them must be noticed");
#ifndef NG_BITSTREAM
  std::uint64_t frames = 0;
  double rate = 0.01;
  app.add_option("--frames", frames, "pass in products over a bad line, with resets; nothing else is run then");
  app.add_option("--rate", rate, "share of the bytes that arrive wrong");
#endif
  CLI11_PARSE(app, argc, argv);
  try {
#ifndef NG_BITSTREAM
    if (frames != 0) return !endures(seed, frames, rate);
#endif
    constexpr std::uint64_t many = 1'000'000'000;
    const auto start = std::chrono::steady_clock::now();
    if (!clocks_of(0, seed, {{4, 4, 64}, {3, 5, 80}, {1, 1, 16}}, many, true)) return 1;
    std::printf("%.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    const std::uint64_t usual = faults == 0 ? 0 : clocks_of(0, seed, {}, many, true).value_or(0);
    unsigned noticed = 0;
    for (unsigned fault = 1; fault <= faults; ++fault) {
      bool alive = false;
      try {
        alive = clocks_of(fault, seed, {}, 2 * usual, false).has_value();
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
