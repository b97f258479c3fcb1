// SPDX-License-Identifier: Apache-2.0
// What serial devices and pseudo-terminals have in common (POSIX).
#pragma once

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge::board {

/// Writes all of them to a file that does not block. False: it has taken none for so many milliseconds. Throws Error
/// that calls it `what`.
inline bool write_all(int file, std::span<const std::uint8_t> bytes, int milliseconds, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t sent = ::write(file, bytes.data(), bytes.size());
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      throw Error(what + " cannot be written: " + std::strerror(errno));
    pollfd ready{file, POLLOUT, 0};
    if (poll(&ready, 1, milliseconds) == 0) return false;
  }
  return true;
}

}  // namespace narrowgauge::board
