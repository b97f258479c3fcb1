// SPDX-License-Identifier: Apache-2.0
// A simulated tile behind the functional bridge: a board without a line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "narrowgauge/board/uart_bridge.hpp"
#include "narrowgauge/engines/tile_bus.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/ng_tile_regs.h"

namespace narrowgauge::board {

/// Time passes in accesses, wait() and elapse(). `bus` must outlive it.
class TileTarget final : public BridgeTarget {
 public:
  TileTarget(TileBus& bus, unsigned stream_bytes) : bus_(bus), stream_bytes_(stream_bytes) {}

  std::uint8_t read(std::uint32_t offset, std::uint32_t& value) override {
    return bus_.read32(offset, value) ? std::uint8_t{0} : std::uint8_t{status_refused};
  }
  std::uint8_t write(std::uint32_t offset, std::uint32_t value) override {
    wake();
    if (offset == NG_TILE_CONTROL_OFFSET && (value & NG_TILE_CONTROL_SOFT_RESET_MASK)) {
      packet_.clear();
      packets_.clear();
      bus_.reset_streams();
    }
    return bus_.write32(offset, value) ? std::uint8_t{0} : std::uint8_t{status_refused};
  }
  bool take(std::span<const std::uint8_t> word, bool last) override {
    while (packets_.size() > bus_.packets_waiting()) packets_.pop_front();
    if (packets_.size() == most_packets) return false;
    packet_.insert(packet_.end(), word.begin(), word.end());
    if (!last) return true;
    wake();
    packets_.push_back(std::move(packet_));
    packet_.clear();
    bus_.send(packets_.back());
    return true;
  }
  std::optional<std::vector<std::uint8_t>> give() override {
    std::vector<std::uint8_t> word(stream_bytes_);
    if (bus_.receive(word) == 0) return std::nullopt;
    return word;
  }
  bool wait() override {
    bus_.run(step);
    if (++waits_ == most_waits)
      throw Error("the loop on the simulated board does not end: the tile waits for operands");
    return true;
  }

  /// Lets the tile work for at most so many cycles, or until it has nothing to do.
  void elapse(std::uint64_t cycles) {
    while (cycles != 0 && !quiet_) {
      const std::uint64_t before = bus_.cycles(), waiting = bus_.packets_waiting();
      bus_.run(std::min(cycles, step));
      std::uint32_t status = 0;
      quiet_ = (!bus_.read32(NG_TILE_STATUS_OFFSET, status) || (status & NG_TILE_STATUS_BUSY_MASK) == 0) &&
               bus_.packets_waiting() == waiting && ++still_ == most_still;
      cycles -= std::min(cycles, bus_.cycles() - before);
    }
  }
  /// Whether it has nothing to do.
  bool quiet() const { return quiet_; }

 private:
  static constexpr std::size_t most_packets = 8;
  static constexpr std::uint64_t step = 256, most_waits = 100'000'000;
  static constexpr unsigned most_still = 4;

  void wake() {
    quiet_ = false;
    waits_ = 0;
    still_ = 0;
  }

  TileBus& bus_;
  std::size_t stream_bytes_;
  std::vector<std::uint8_t> packet_;  ///< until its last word
  std::deque<std::vector<std::uint8_t>> packets_;
  std::uint64_t waits_ = 0;
  unsigned still_ = 0;
  bool quiet_ = false;
};

}  // namespace narrowgauge::board
