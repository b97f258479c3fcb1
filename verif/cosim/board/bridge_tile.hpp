// SPDX-License-Identifier: Apache-2.0
// What stands behind the bridge in its tests: registers that refuse or do not answer, streams that are open or closed,
// and commands whose results are known.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "narrowgauge/board/uart_bridge.hpp"

namespace narrowgauge::bench {

class BridgeTile final : public board::BridgeTarget {
 public:
  explicit BridgeTile(unsigned stream_bytes) : stream_bytes_(stream_bytes) {}

  static bool refuses(std::uint32_t offset) { return offset >= 0x900 && offset < 0xA00; }
  static bool silent(std::uint32_t offset) { return offset >= 0xA00 && offset < 0xB00; }
  static constexpr std::uint32_t status = 0x24, compute = 0x44;

  std::uint8_t read(std::uint32_t offset, std::uint32_t& value) override {
    if (silent(offset)) return board::status_timeout;
    if (refuses(offset)) return board::status_refused;
    value = offset == status ? (busy() ? 1U : 0U) | (4 - queue) << 8 | error << 12 : registers_[offset / 4];
    return 0;
  }
  std::uint8_t write(std::uint32_t offset, std::uint32_t value) override {
    if (silent(offset)) return board::status_timeout;
    if (refuses(offset)) return board::status_refused;
    registers_[offset / 4] = value;
    written.push_back({offset, value});
    if (offset == compute && queue < 4) ++queue;
    return 0;
  }
  bool take(std::span<const std::uint8_t> word, bool last) override {
    if (!open) return false;
    operands.insert(operands.end(), word.begin(), word.end());
    operands.push_back(last);
    return true;
  }
  std::optional<std::vector<std::uint8_t>> give() override {
    if (granted == 0) return std::nullopt;
    --granted;
    std::vector<std::uint8_t> word(stream_bytes_);
    for (std::uint8_t& byte : word) byte = static_cast<std::uint8_t>((seed_ = seed_ * 1664525 + 1013904223) >> 24);
    return word;
  }
  /// A command is done: its words of results may leave.
  bool wait() override {
    if (queue == 0) return false;
    --queue;
    granted += words_of_command;
    return true;
  }
  bool busy() const { return queue != 0 || granted != 0; }

  struct Write {
    std::uint32_t offset, value;
    bool operator==(const Write&) const = default;
  };
  static constexpr unsigned words_of_command = 3;
  bool open = true;
  unsigned granted = 0, queue = 0, error = 0;
  std::vector<Write> written;
  std::vector<std::uint8_t> operands;

 private:
  unsigned stream_bytes_;
  std::uint32_t seed_ = 1;
  std::array<std::uint32_t, 1024> registers_{};
};

}  // namespace narrowgauge::bench
