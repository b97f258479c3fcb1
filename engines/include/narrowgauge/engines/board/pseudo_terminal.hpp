// SPDX-License-Identifier: Apache-2.0
// A pseudo-terminal (POSIX): the end of a serial line that a simulated board holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "narrowgauge/engines/board/byte_line.hpp"

namespace narrowgauge::board {

class PseudoTerminal {
 public:
  /// Throws Error if the system has none.
  PseudoTerminal();
  ~PseudoTerminal();
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  /// What a host opens.
  const std::string& name() const { return name_; }
  void send(std::span<const std::uint8_t> bytes);
  /// What has come, at once or after at most `wait`; none while no host has the other end open, too.
  std::size_t receive(std::span<std::uint8_t> out, Duration wait);

 private:
  int file_ = -1, held_ = -1;
  std::string name_;
};

}  // namespace narrowgauge::board
