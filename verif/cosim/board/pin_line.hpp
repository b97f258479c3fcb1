// SPDX-License-Identifier: Apache-2.0
// A serial line to the two pins of a simulated board, clock by clock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "narrowgauge/engines/board/byte_line.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge::board {

/// One clock of the board: takes the level of its rx pin, and gives that of its tx pin.
using BoardClock = std::function<bool(bool rx)>;

/// Bytes of eight bits, without parity, with one stop bit. Time is the board's, and passes in receive() only. Where
/// both ends have been silent for long, it passes without clocks.
class PinLine final : public ByteLine {
 public:
  /// `most`: clocks after which the line is gone, an Error.
  PinLine(BoardClock clock, unsigned clocks_per_bit, double clock_hz, std::uint64_t most)
      : clock_(std::move(clock)), clocks_per_bit_(clocks_per_bit), clock_hz_(clock_hz), most_(most) {}

  void send(std::span<const std::uint8_t> bytes) override { to_.insert(to_.end(), bytes.begin(), bytes.end()); }

  std::size_t receive(std::span<std::uint8_t> out, Duration wait) override {
    // a clock at least, or time would stand still
    const auto most = static_cast<std::uint64_t>(
        std::ceil(std::chrono::duration<double>(std::max(wait, Duration{})).count() * clock_hz_));
    std::uint64_t waited = 0;
    for (unsigned silent = 0; from_.empty() && waited < most && silent < still; ++waited) {
      pass();
      silent = send_left_ == 0 && to_.empty() && hear_at_ == 0 ? silent + 1 : 0;
    }
    if (from_.empty()) skipped_ += most - waited;
    const std::size_t count = std::min(out.size(), from_.size());
    std::copy_n(from_.begin(), count, out.begin());
    from_.erase(from_.begin(), from_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  Duration now() override { return time_of(clocks_ + skipped_); }
  Duration byte_time() const override { return time_of(10ULL * clocks_per_bit_); }

  std::uint64_t clocks() const { return clocks_; }
  /// Bytes from the board without a stop bit.
  std::uint64_t broken() const { return broken_; }
  /// The line is silent for so many clocks.
  void idle(std::uint64_t clocks) {
    for (std::uint64_t i = 0; i < clocks; ++i) pass();
  }

 private:
  Duration time_of(std::uint64_t clocks) const {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(static_cast<double>(clocks) / clock_hz_));
  }

  void pass() {
    if (clocks_ == most_) throw Error("the line is gone after " + std::to_string(most_) + " clocks");
    if (send_left_ == 0 && !to_.empty()) {
      sending_ = 0x200U | static_cast<unsigned>(to_.front()) << 1;  // start bit 0, stop bit 1
      to_.pop_front();
      send_left_ = 10 * clocks_per_bit_;
    }
    const bool rx = send_left_ == 0 || (sending_ >> (10 - (send_left_ - 1) / clocks_per_bit_ - 1) & 1) != 0;
    if (send_left_ != 0) --send_left_;
    const bool tx = clock_(rx);
    ++clocks_;
    if (hear_at_ == 0) {
      if (!tx) hear_at_ = 1;
      heard_ = 0;
      return;
    }
    ++hear_at_;
    const unsigned bit = hear_at_ / clocks_per_bit_;
    if (hear_at_ % clocks_per_bit_ != clocks_per_bit_ / 2) return;
    heard_ |= static_cast<unsigned>(tx) << bit;
    if (bit < 9) return;
    if ((heard_ & 1) == 0 && tx) {
      from_.push_back(static_cast<std::uint8_t>(heard_ >> 1));
    } else {
      ++broken_;
    }
    hear_at_ = 0;
  }

  BoardClock clock_;
  unsigned clocks_per_bit_;
  double clock_hz_;
  std::uint64_t most_;
  static constexpr unsigned still = 4000;  // clocks, in which a tile does what it is told
  std::uint64_t clocks_ = 0, skipped_ = 0, broken_ = 0;
  std::deque<std::uint8_t> to_, from_;
  unsigned sending_ = 0, send_left_ = 0;  ///< of the byte to the board, in clocks
  unsigned heard_ = 0, hear_at_ = 0;      ///< of the byte from it, clocks since its start bit
};

}  // namespace narrowgauge::board
