// SPDX-License-Identifier: Apache-2.0
// A line that damages bytes of the one behind it, in both directions, by a seed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "narrowgauge/engines/board/byte_line.hpp"
#include "narrowgauge/engines/board/simulated_line.hpp"

namespace narrowgauge::board {

/// Each byte is wrong with the probability `rate`: a bit of it is, it is lost, or it comes twice.
class FaultyLine final : public ByteLine {
 public:
  FaultyLine(std::unique_ptr<ByteLine> line, double rate, std::uint64_t seed)
      : line_(std::move(line)), to_board_(rate, seed), from_board_(rate, seed + 1) {}

  void send(std::span<const std::uint8_t> bytes) override {
    sent_ += bytes.size();
    line_->send(passed(to_board_, bytes));
  }
  std::size_t receive(std::span<std::uint8_t> out, Duration wait) override {
    if (come_.empty()) {
      std::vector<std::uint8_t> bytes(out.size());
      bytes.resize(line_->receive(bytes, wait));
      const auto left = passed(from_board_, bytes);
      come_.insert(come_.end(), left.begin(), left.end());
    }
    const std::size_t count = std::min(out.size(), come_.size());
    std::copy_n(come_.begin(), count, out.begin());
    come_.erase(come_.begin(), come_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  Duration now() override { return line_->now(); }
  Duration byte_time() const override { return line_->byte_time(); }

  /// Bytes that the host gave the line.
  std::uint64_t sent() const { return sent_; }

 private:
  /// What arrives; a byte without its stop bit does not.
  static std::vector<std::uint8_t> passed(LineFaults& faults, std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t> left;
    for (const std::uint8_t byte : bytes)
      for (const LineFaults::Byte& arrived : faults.pass(byte))
        if (!arrived.broken) left.push_back(arrived.value);
    return left;
  }
  std::unique_ptr<ByteLine> line_;
  LineFaults to_board_, from_board_;
  std::deque<std::uint8_t> come_;  // come twice: more than there was room for
  std::uint64_t sent_ = 0;
};

}  // namespace narrowgauge::board
