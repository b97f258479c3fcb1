// SPDX-License-Identifier: Apache-2.0
// The host's end of a board's line: on simulated lines that damage bytes, are cut, and whose board is reset; and the
// engine over it against the golden model.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "narrowgauge/board/uart_bridge.hpp"
#include "narrowgauge/engines/board/bridge_link.hpp"
#include "narrowgauge/engines/board/serial_line.hpp"
#include "narrowgauge/engines/board/simulated_line.hpp"
#include "narrowgauge/engines/board/tile_target.hpp"
#include "narrowgauge/engines/board_engine.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/power/explore/timing.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

using namespace std::chrono_literals;
using board::BridgeLink;
using board::LinkError;
using board::SimulatedLine;
using board::UartBridge;

/// Registers, and results that are the operands.
struct Registers : board::BridgeTarget {
  std::map<std::uint32_t, std::uint32_t> values;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> written;
  std::deque<std::vector<std::uint8_t>> words;
  std::uint64_t operands = 0;
  bool open = true;

  std::uint8_t read(std::uint32_t offset, std::uint32_t& value) override {
    if (offset >= 0xF00) return board::status_refused;
    value = values[offset];
    return 0;
  }
  std::uint8_t write(std::uint32_t offset, std::uint32_t value) override {
    if (offset >= 0xF00) return board::status_refused;
    values[offset] = value;
    written.emplace_back(offset, value);
    return 0;
  }
  bool take(std::span<const std::uint8_t> word, bool) override {
    if (!open) return false;
    words.emplace_back(word.begin(), word.end());
    ++operands;
    return true;
  }
  std::optional<std::vector<std::uint8_t>> give() override {
    if (words.empty()) return std::nullopt;
    auto word = words.front();
    words.pop_front();
    return word;
  }
};

/// Operands stay.
struct Sink final : Registers {
  std::optional<std::vector<std::uint8_t>> give() override { return std::nullopt; }
};

struct Board {
  Registers registers;
  std::optional<UartBridge> bridge;
  Board() { reset(); }
  void reset() { bridge.emplace(registers); }
};

/// Calls `what` once, before the board takes the byte that is the at-th from now on.
void in_front_of_byte(SimulatedLine& line, std::uint64_t at, const std::function<void()>& what) {
  line.before_byte = [at, what, taken = std::uint64_t{0}]() mutable {
    if (++taken == at) what();
  };
}

/// Random writes, reads and operands; every value that comes back is checked, and that each write was done once, in
/// order.
void exercise(double faults, std::uint64_t seed, std::uint64_t frames, board::LinkCounts& counts) {
  Board board;
  SimulatedLine line(*board.bridge, {.faults = faults, .seed = seed});
  BridgeLink link(line);
  link.connect();
  std::mt19937_64 random(seed);
  std::map<std::uint32_t, std::uint32_t> expected;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;
  std::deque<std::uint32_t> results;
  while (link.counts().frames < frames) {
    switch (random() % 4) {
      case 0: {
        for (auto count = random() % 40; count != 0; --count) {
          const auto address = static_cast<std::uint32_t>(random() % 64 * 4),
                     value = static_cast<std::uint32_t>(random());
          link.write(address, value);
          expected[address] = value;
          writes.emplace_back(address, value);
        }
        break;
      }
      case 1: {
        const auto address = static_cast<std::uint32_t>(random() % 64 * 4);
        const std::uint32_t value = link.read(address);
        if (value != expected[address]) ADD_FAILURE() << "a wrong word at " << address;
        break;
      }
      case 2: {
        std::vector<std::uint8_t> bytes(4 * std::min<std::uint64_t>(random() % 64, link.room()));
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 3 == 0 ? 0x7D + random() % 2 : random());
        for (std::size_t i = 0; i < bytes.size(); i += 4)
          results.push_back(bytes[i] | bytes[i + 1] << 8 | bytes[i + 2] << 16 |
                            static_cast<std::uint32_t>(bytes[i + 3]) << 24);
        if (!bytes.empty()) link.write_operands(bytes, false);
        break;
      }
      default: {
        if (results.empty()) break;
        link.poll();
        const auto words =
            static_cast<unsigned>(std::min<std::uint64_t>({link.arrived(), link.read_words(), random() % 64}));
        if (words == 0) break;
        for (const std::uint32_t word : link.read_results(words)) {
          if (results.empty() || word != results.front()) ADD_FAILURE() << "a wrong result";
          if (!results.empty()) results.pop_front();
        }
      }
    }
    EXPECT_EQ(link.take_fault(), 0) << board::fault_text(link.take_fault());
    if (writes.size() > 10000 && !testing::Test::HasFailure()) {
      link.settle();
      if (board.registers.written != writes) ADD_FAILURE() << "writes were lost, doubled or reordered";
      board.registers.written.clear();
      writes.clear();
    }
    if (testing::Test::HasFailure()) break;
  }
  link.settle();
  EXPECT_TRUE(board.registers.written == writes);
  counts = link.counts();
}

TEST(BridgeLink, EveryFrameIsExecutedOnceOnLinesThatDamageBytes) {
  // NG_BOARD_FRAMES=1000000 in the long run
  const char* const wished = std::getenv("NG_BOARD_FRAMES");
  const std::uint64_t frames = wished ? std::stoull(wished) : 20000;
  for (const double faults : {0.0, 0.0001, 0.001, 0.01, 0.03}) {
    board::LinkCounts counts;
    exercise(faults, 7, faults == 0.01 ? frames : 20000, counts);
    std::printf("faults %.4f: %llu frames, %llu sent again, %llu damaged answers\n", faults,
                static_cast<unsigned long long>(counts.frames), static_cast<unsigned long long>(counts.repeated),
                static_cast<unsigned long long>(counts.bad_answers));
    if (faults == 0) {
      EXPECT_EQ(counts.repeated, 0U);
    } else {
      EXPECT_GT(counts.repeated, 0U);
    }
    if (HasFailure()) return;
  }
}

/// Operands sent as fast as the link takes them: their share of the line's bytes.
double goodput(double faults, board::Duration latency, unsigned tx_bytes, std::uint64_t frames,
               board::LinkCounts& counts) {
  Sink registers;
  UartBridge bridge(registers, {.tx_bytes = tx_bytes});
  SimulatedLine line(bridge, {.latency = latency, .faults = faults, .seed = 11});
  BridgeLink link(line);
  link.connect();
  std::mt19937_64 random(3);
  std::deque<std::vector<std::uint8_t>> sent;
  std::uint64_t words = 0;
  const board::Duration begin = line.now();
  while (link.counts().frames < frames) {
    const std::uint32_t room = link.room();
    if (room == 0) {
      link.poll();
      continue;
    }
    std::vector<std::uint8_t> bytes(std::size_t{4} * room);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    link.write_operands(bytes, false);
    for (std::size_t i = 0; i < bytes.size(); i += 4)
      sent.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                        bytes.begin() + static_cast<std::ptrdiff_t>(i) + 4);
    words += room;
    while (!registers.words.empty() && !sent.empty()) {
      if (registers.words.front() != sent.front()) {
        ADD_FAILURE() << "a wrong word of operands";
        return 0;
      }
      registers.words.pop_front();
      sent.pop_front();
    }
  }
  link.settle();
  counts = link.counts();
  return static_cast<double>(words) * 4 * static_cast<double>(line.byte_time().count()) /
         static_cast<double>((line.now() - begin).count());
}

TEST(BridgeLink, Goodput) {
  std::printf("faults  latency  queue  frames  again  share of the line\n");
  for (const unsigned tx_bytes : {512U, 2048U}) {
    for (const double faults : {0.0, 0.001, 0.01}) {
      board::LinkCounts counts;
      const double share = goodput(faults, 1ms, tx_bytes, 20000, counts);
      std::printf("%5.1f %%     1 ms  %5u  %6llu  %5llu  %.2f\n", 100 * faults, tx_bytes,
                  static_cast<unsigned long long>(counts.frames), static_cast<unsigned long long>(counts.repeated),
                  share);
      EXPECT_GT(share, faults == 0 ? 0.4 : 0.01);
    }
  }
}

TEST(BridgeLink, FindsTheNumberOfABoardThatHasWorkedBefore) {
  for (int before = 0; before < 300; before += before < 6 ? 1 : 7) {
    Board board;
    SimulatedLine line(*board.bridge);
    {
      BridgeLink link(line);
      link.connect();
      for (int i = 0; i < before; ++i) link.poll();
      link.write(0x40, 123);
      link.settle();
    }
    BridgeLink link(line);
    link.connect();
    EXPECT_EQ(link.read(0x40), 123U) << before;
  }
}

TEST(BridgeLink, ConnectsOverABadLine) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Board board;
    SimulatedLine line(*board.bridge, {.faults = 0.02, .seed = seed});
    BridgeLink link(line);
    link.connect();
    link.write(0x10, static_cast<std::uint32_t>(seed));
    EXPECT_EQ(link.read(0x10), seed);
  }
}

TEST(BridgeLink, NamesABoardThatIsSilent) {
  Board board;
  SimulatedLine line(*board.bridge);
  line.cut = true;
  BridgeLink link(line);
  try {
    link.connect();
    FAIL() << "connected to nothing";
  } catch (const LinkError& error) {
    EXPECT_NE(std::string(error.what()).find("no bridge on this line"), std::string::npos) << error.what();
  }
  line.cut = false;
  link.connect();
  EXPECT_EQ(link.read(0x20), 0U);
  line.cut = true;
  try {
    link.read(0x20);
    FAIL() << "read from nothing";
  } catch (const LinkError& error) {
    EXPECT_NE(std::string(error.what()).find("has not answered for"), std::string::npos) << error.what();
  }
  line.cut = false;
  EXPECT_THROW(link.read(0x20), LinkError) << "what has failed stays so until connect()";
  link.connect();
  EXPECT_EQ(link.read(0x20), 0U);
}

TEST(BridgeLink, SaysThatTheBoardWasReset) {
  // in front of each byte of some work
  bool ended = false;
  for (std::uint64_t at = 1; !ended; ++at) {
    Board board;
    SimulatedLine line(*board.bridge);
    BridgeLink link(line);
    link.connect();
    for (int i = 0; i < 3; ++i) link.poll();
    bool reset = false;
    in_front_of_byte(line, at, [&] {
      board.reset();
      reset = true;
    });
    try {
      for (std::uint32_t i = 0; i < 5; ++i) link.write(4 * i, i + 1);
      const std::uint32_t value = link.read(0x10);
      ended = !reset;
      EXPECT_TRUE(ended) << "byte " << at << ": read " << value;
    } catch (const LinkError& error) {
      EXPECT_TRUE(reset);
      EXPECT_NE(std::string(error.what()).find("was reset"), std::string::npos) << at << ": " << error.what();
    }
    line.before_byte = nullptr;
    link.connect();
    link.write(0x30, 77);
    EXPECT_EQ(link.read(0x30), 77U);
    ASSERT_LT(at, 1000U);
  }
}

TEST(BridgeLink, SurvivesACutAtEveryByte) {
  bool ended = false;
  for (std::uint64_t at = 1; !ended; ++at) {
    Board board;
    SimulatedLine line(*board.bridge);
    BridgeLink link(line);
    link.connect();
    bool cut = false;
    in_front_of_byte(line, at, [&] { line.cut = cut = true; });
    // bytes that are on their way arrive; those that are sent within 60 ms do not
    const board::Duration begin = line.now();
    line.elapse = [&](board::Duration) {
      if (line.now() - begin > 60ms) line.cut = false;
    };
    for (std::uint32_t i = 0; i < 5; ++i) link.write(4 * i, i + 1);
    EXPECT_EQ(link.read(0x10), 5U);
    EXPECT_EQ(link.take_fault(), 0);
    EXPECT_EQ(board.registers.written.size(), 5U);
    ended = !cut;
    ASSERT_LT(at, 1000U);
  }
}

TEST(BridgeLink, TellsOfRefusedAccesses) {
  Board board;
  SimulatedLine line(*board.bridge);
  BridgeLink link(line);
  link.connect();
  link.write(0xF00, 1);
  link.settle();
  EXPECT_EQ(board::fault_text(link.take_fault()), "the tile refused an access (SLVERR)");
  link.read(0xF04);
  EXPECT_EQ(link.take_fault(), board::status_refused);
  link.read(0x1100);
  EXPECT_EQ(link.take_fault(), board::status_address);
  EXPECT_EQ(link.take_fault(), 0);
}

TEST(SerialLine, SaysWhatIsWrongWithADevice) {
  const auto why = [](const std::string& device, unsigned baud) {
    try {
      board::SerialLine line(device, baud);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(why("/nonexistent/tty", 115200).find("cannot be opened"), std::string::npos);
  EXPECT_NE(why("/dev/null", 115200).find("is no serial device"), std::string::npos);
  EXPECT_NE(why("/dev/null", 12345).find("expected one of 9600"), std::string::npos);
}

// ---- the engine

/// A board with a cycle model's tile.
class TileBoard {
 public:
  TileBoard(const std::string& tile, const board::SimulatedLineOptions& options, double clock_hz = 24e6)
      : pins_(make_tile_pin_model("systemc", tile)),
        config_(find_tile(tile)),
        bus_(*pins_, config_.stream_width / 8),
        target_(bus_, config_.stream_width / 8),
        bridge_(target_, {.stream_bytes = config_.stream_width / 8}) {
    auto line = std::make_unique<SimulatedLine>(bridge_, options);
    line->elapse = [this, clock_hz](board::Duration time) {
      target_.elapse(static_cast<std::uint64_t>(std::chrono::duration<double>(time).count() * clock_hz) + 1);
    };
    line_ = line.get();
    engine_ = make_board_engine(std::move(line), "a simulated line");
  }
  Engine& engine() { return *engine_; }
  BoardLoop& loop() { return dynamic_cast<BoardLoop&>(*engine_); }
  SimulatedLine& line() { return *line_; }
  UartBridge& bridge() { return bridge_; }

 private:
  std::unique_ptr<TilePinModel> pins_;
  TileConfig config_;
  TileBusOnPins bus_;
  board::TileTarget target_;
  UartBridge bridge_;
  SimulatedLine* line_ = nullptr;
  std::unique_ptr<Engine> engine_;
};

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(count);
  for (float& value : x) value = normal(random);
  return x;
}
QuantizedMatrix random_matrix(std::size_t rows, std::size_t k, std::uint64_t seed) {
  return quantize(random_values(rows * k, seed), rows, k, Axis::rows, QuantizeOptions{});
}

TEST(BoardEngine, GivesTheGoldenProductOverABadLine) {
  for (const double faults : {0.0, 0.003}) {
    TileBoard board("tiny", {.faults = faults, .seed = 5});
    for (const auto& [m, n, k] : {std::tuple{16, 16, 128}, {3, 5, 17}, {1, 1, 1}}) {
      const QuantizedMatrix a = random_matrix(m, k, 1), b = random_matrix(n, k, 2);
      const EngineResult got = board.engine().gemm(a, b, {});
      EXPECT_EQ(got.c, make_model_engine(1)->gemm(a, b, {}).c);
      EXPECT_EQ(got.tile, "1x1x16");
      ASSERT_TRUE(got.link.has_value());
      std::printf("%d x %d x %d, faults %.3f: %.4f s, %llu and %llu bytes, %llu frames, %llu sent again\n", m, n, k,
                  faults, got.link->seconds, static_cast<unsigned long long>(got.link->sent_bytes),
                  static_cast<unsigned long long>(got.link->received_bytes),
                  static_cast<unsigned long long>(got.link->frames),
                  static_cast<unsigned long long>(got.link->repeated));
    }
  }
}

/// Bytes of operands that the driver's plan sends, by the timing model.
std::int64_t planned_bytes(const std::string& name, const power::GemmShape& product) {
  const TileConfig tile = find_tile(name);
  const auto shape =
      power::TileShape::of(static_cast<int>(tile.rows), static_cast<int>(tile.cols), static_cast<int>(tile.lanes),
                           tile.format_set, static_cast<int>(tile.stream_width), static_cast<int>(tile.a_depth),
                           static_cast<int>(tile.b_depth), static_cast<std::int64_t>(tile.max_beats));
  return power::estimate_gemm(shape, product).words_in * static_cast<std::int64_t>(tile.stream_width / 8);
}

TEST(BoardEngine, TakesTheTimeOfItsBytes) {
  const char* const large = std::getenv("NG_BOARD_LARGE");  // a tile
  std::vector<power::GemmShape> shapes = {{16, 16, 128}, {32, 32, 256}};
  std::vector<std::string> tiles = {"tiny", "ecp5"};
  if (large != nullptr) shapes = {{256, 256, 1024}}, tiles = {large};
  std::printf("tile  product            operands  to the board    from it  predicted s  measured s\n");
  for (const std::string& tile : tiles) {
    for (const power::GemmShape& product : shapes) {
      TileBoard board(tile, {}, tile == "tiny" ? 24e6 : 50e6);
      const auto m = static_cast<std::size_t>(product.m), n = static_cast<std::size_t>(product.n),
                 k = static_cast<std::size_t>(product.k);
      const QuantizedMatrix a = random_matrix(m, k, 1), b = random_matrix(n, k, 2);
      const EngineResult got = board.engine().gemm(a, b, {});
      EXPECT_EQ(got.c, make_model_engine(1)->gemm(a, b, {}).c);
      const std::int64_t operands = planned_bytes(tile, product);
      // 500 bytes of operands in a frame of 512, and two bytes of 256 are escaped
      const double line = static_cast<double>(operands) * (512.0 / 500) * (1 + 2.0 / 256) * 10 / 3e6;
      const std::string shape = std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
      std::printf("%-4s  %-16s  %9lld  %12llu  %9llu  %11.2f  %10.2f\n", tile.c_str(), shape.c_str(),
                  static_cast<long long>(operands), static_cast<unsigned long long>(got.link->sent_bytes),
                  static_cast<unsigned long long>(got.link->received_bytes), line, got.link->seconds);
      EXPECT_GT(got.link->sent_bytes, static_cast<std::uint64_t>(operands));
      EXPECT_LT(got.link->seconds, 6 * line);
    }
  }
}

TEST(BoardEngine, RequantizesAndCompressesWhereTheTileCan) {
  TileBoard board("codec", {});
  const QuantizedMatrix a = random_matrix(20, 64, 1), b = random_matrix(16, 64, 2);
  const auto golden = make_model_engine(1);
  const RequantizeOptions options{.compressed = {.a = true, .b = false, .c = true}};
  EXPECT_EQ(board.engine().gemm_requantized(a, b, 0.01F, options, {}).c.codes,
            golden->gemm_requantized(a, b, 0.01F, options, {}).c.codes);
  EXPECT_EQ(board.engine().gemm_compressed(a, b, {.a = true, .b = true}, {}).c, golden->gemm(a, b, {}).c);
  try {
    board.engine().check(Scheme::fp8, Format::e4m3, Format::e4m3, 16);
    FAIL() << "a tile of NVFP4 took FP8";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a simulated line does not have fp8_e4m3"), std::string::npos)
        << error.what();
  }
}

/// The hash of a product's results, so many times behind each other: of a product of one panel, whose words are those
/// of C.
std::uint32_t hash_of(const std::vector<float>& c, unsigned times) {
  std::uint32_t hash = 0;
  for (unsigned i = 0; i < times; ++i)
    for (const float x : c) hash = board::result_hash_next(hash, std::bit_cast<std::uint32_t>(x));
  return hash;
}

TEST(BoardEngine, RepeatsAProductByItself) {
  for (const double faults : {0.0, 0.003}) {
    TileBoard board("tiny", {.faults = faults, .seed = 5});
    const QuantizedMatrix a = random_matrix(1, 128, 1), b = random_matrix(1, 128, 2);
    const std::vector<float> golden = make_model_engine(1)->gemm(a, b, {}).c;
    EXPECT_EQ(board.loop().hold(a, b).c, golden);
    for (const unsigned times : {1U, 5U, 1000U}) {
      board.loop().start_loop(times);
      const LoopState state = board.loop().loop_state();
      EXPECT_FALSE(state.running);
      EXPECT_EQ(state.times, times);
      EXPECT_EQ(state.hash, hash_of(golden, times));
    }
    EXPECT_EQ(board.engine().gemm(b, a, {}).c, make_model_engine(1)->gemm(b, a, {}).c);  // frees what was held
    EXPECT_EQ(board.loop().hold(a, b).c, golden);
  }
}

TEST(BoardEngine, EndsALoopThatRuns) {
  TileBoard board("tiny", {});
  board.bridge().loop_in_steps(true);
  const QuantizedMatrix a = random_matrix(1, 128, 1), b = random_matrix(1, 128, 2);
  const std::vector<float> golden = make_model_engine(1)->gemm(a, b, {}).c;
  board.loop().hold(a, b);
  board.loop().start_loop(4'000'000'000);
  for (int i = 0; i < 1000; ++i) board.bridge().step_loop();
  const LoopState during = board.loop().loop_state();
  EXPECT_TRUE(during.running);
  EXPECT_GT(during.times, 100U);
  board.line().before_byte = [&] { board.bridge().step_loop(); };  // the board lives on while the host talks
  const LoopState after = board.loop().stop_loop();
  EXPECT_FALSE(after.running);
  EXPECT_GE(after.times, during.times);
  EXPECT_LT(after.times, 100'000U);
  EXPECT_EQ(after.hash, hash_of(golden, static_cast<unsigned>(after.times)));
  // A host that comes back finds a board that loops, and a product that it can do.
  board.loop().start_loop(4'000'000'000);
  EXPECT_EQ(board.engine().gemm(a, b, {}).c, golden);
}

TEST(BoardEngine, SaysWhyItDoesNotLoop) {
  TileBoard board("tiny", {});
  const auto why = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing is wrong";
  };
  BoardLoop& loop = board.loop();
  EXPECT_NE(why([&] { loop.start_loop(1); }).find("expected a call of hold() first"), std::string::npos);
  const QuantizedMatrix big = random_matrix(1, 30'000, 1), a = random_matrix(1, 64, 2);
  const std::string refused = why([&] { loop.hold(big, big); });
  EXPECT_NE(refused.find("A takes 1875 images, and its bank"), std::string::npos) << refused;
  EXPECT_NE(why([&] { loop.start_loop(1); }).find("no product is held"), std::string::npos);
  loop.hold(a, a);
  EXPECT_NE(why([&] { loop.start_loop(0); }).find("a loop of 0 products"), std::string::npos);
  board.bridge().loop_in_steps(true);
  loop.start_loop(1'000'000);
  EXPECT_NE(why([&] { loop.start_loop(1); }).find("runs on the tile on a simulated line already"), std::string::npos);
}

TEST(BoardEngine, BeginsAnewBehindAFailure) {
  TileBoard board("tiny", {});
  const QuantizedMatrix a = random_matrix(4, 64, 1), b = random_matrix(4, 64, 2);
  in_front_of_byte(board.line(), 300, [&] { board.line().cut = true; });
  EXPECT_THROW(board.engine().gemm(a, b, {}), Error);
  board.line().before_byte = nullptr;
  board.line().cut = false;
  EXPECT_EQ(board.engine().gemm(a, b, {}).c, make_model_engine(1)->gemm(a, b, {}).c);
}

}  // namespace
}  // namespace narrowgauge
