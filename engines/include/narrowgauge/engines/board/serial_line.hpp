// SPDX-License-Identifier: Apache-2.0
// A serial device as a line to a board (POSIX).
#pragma once

#include <string>

#include "narrowgauge/engines/board/byte_line.hpp"

namespace narrowgauge::board {

class SerialLine final : public ByteLine {
 public:
  /// Opens `device` for this process alone, in raw mode, 8N1, without flow control, and drops what has come before.
  /// Throws Error if it is no serial device, is in use, or does not have that rate.
  SerialLine(const std::string& device, unsigned baud);
  ~SerialLine() override;
  SerialLine(const SerialLine&) = delete;
  SerialLine& operator=(const SerialLine&) = delete;

  void send(std::span<const std::uint8_t> bytes) override;
  std::size_t receive(std::span<std::uint8_t> out, Duration wait) override;
  Duration now() override;
  Duration byte_time() const override { return byte_time_; }

  /// What makes this line slow and how to mend it, as a sentence; empty if nothing does. An FTDI chip holds short
  /// answers back for its latency timer, 16 ms unless it is set; opening the line sets it to 1 ms where that is
  /// allowed.
  const std::string& advice() const { return advice_; }

 private:
  std::string device_, advice_;
  int file_ = -1;
  Duration byte_time_;
};

/// Sets the latency timer of an FTDI chip to 1 ms; advice as of SerialLine. `sysfs`: where Linux has devices, /sys.
std::string set_latency_timer(const std::string& device, const std::string& sysfs = "/sys");

}  // namespace narrowgauge::board
