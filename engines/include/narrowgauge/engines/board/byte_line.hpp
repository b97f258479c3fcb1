// SPDX-License-Identifier: Apache-2.0
// A line of bytes to a board: a serial device, or a simulated one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace narrowgauge::board {

using Duration = std::chrono::nanoseconds;

class ByteLine {
 public:
  virtual ~ByteLine() = default;
  /// Sends all of them, in order. Throws Error if the line is gone.
  virtual void send(std::span<const std::uint8_t> bytes) = 0;
  /// Moves bytes that have come to `out`: at once if there are any, else after at most `wait`. How many. Throws Error
  /// if the line is gone.
  virtual std::size_t receive(std::span<std::uint8_t> out, Duration wait) = 0;
  /// A clock that never stops.
  virtual Duration now() = 0;
  /// Of a byte with its start and stop bit.
  virtual Duration byte_time() const = 0;
};

}  // namespace narrowgauge::board
