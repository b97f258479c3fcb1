// SPDX-License-Identifier: Apache-2.0
// A line to a simulated board, in simulated time, that loses and damages bytes as it is told to.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "narrowgauge/board/uart_bridge.hpp"
#include "narrowgauge/engines/board/byte_line.hpp"

namespace narrowgauge::board {

/// Faults of bytes, by a seed.
class LineFaults {
 public:
  /// Each byte is wrong with this probability: a bit of it is, it is lost, it comes twice, or its stop bit is missing.
  LineFaults(double rate, std::uint64_t seed);

  struct Byte {
    std::uint8_t value;
    bool broken;  ///< without a stop bit
  };
  /// What arrives of a byte: none, one or two.
  std::vector<Byte> pass(std::uint8_t byte);

 private:
  std::mt19937_64 random_;
  std::uint64_t threshold_;
};

struct SimulatedLineOptions {
  unsigned baud = 3'000'000;
  Duration latency = std::chrono::milliseconds(1);  ///< of the host's adapter, until it tells of a byte
  double faults = 0;                                ///< share of bytes, in each direction
  std::uint64_t seed = 1;
};

/// `board` must outlive it.
class SimulatedLine final : public ByteLine {
 public:
  SimulatedLine(UartBridge& board, const SimulatedLineOptions& options = {});

  void send(std::span<const std::uint8_t> bytes) override;
  std::size_t receive(std::span<std::uint8_t> out, Duration wait) override;
  Duration now() override { return now_; }
  Duration byte_time() const override { return byte_time_; }

  /// Called before the board takes a byte; for tests that reset it or cut the line.
  std::function<void()> before_byte;
  /// Called when time passes on the board; the tile's does not by itself.
  std::function<void(Duration)> elapse;
  /// Bytes that the host sends are lost while this is set.
  bool cut = false;

 private:
  struct Event {
    Duration at;
    std::uint8_t byte;
    bool broken;
  };
  void advance(Duration until);

  UartBridge& board_;
  LineFaults to_board_, from_board_;
  Duration latency_, byte_time_, now_{}, host_free_{}, board_free_{};
  std::deque<Event> to_, from_;
};

}  // namespace narrowgauge::board
