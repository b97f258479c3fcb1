// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/board/pseudo_terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "descriptor.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge::board {

PseudoTerminal::PseudoTerminal() {
  const auto refuse = [&] {
    const std::string why = std::strerror(errno);
    if (held_ >= 0) close(held_);
    if (file_ >= 0) close(file_);
    throw Error("a pseudo-terminal cannot be made: " + why);
  };
  file_ = posix_openpt(O_RDWR | O_NOCTTY);
  if (file_ < 0 || grantpt(file_) != 0 || unlockpt(file_) != 0) refuse();
  char name[128];
  if (ptsname_r(file_, name, sizeof name) != 0) refuse();
  name_ = name;
  fcntl(file_, F_SETFD, FD_CLOEXEC);
  fcntl(file_, F_SETFL, O_NONBLOCK);
  // Held open, so that the board hears no end of line when a host goes; raw, so that nothing echoes before one has
  // come.
  held_ = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios settings{};
  if (held_ < 0 || tcgetattr(held_, &settings) != 0) refuse();
  cfmakeraw(&settings);
  if (tcsetattr(held_, TCSANOW, &settings) != 0) refuse();
}

PseudoTerminal::~PseudoTerminal() {
  close(held_);
  close(file_);
}

void PseudoTerminal::send(std::span<const std::uint8_t> bytes) {
  // a host that does not read loses bytes, as on a line
  write_all(file_, bytes, 1000, "the pseudo-terminal " + name_);
}

std::size_t PseudoTerminal::receive(std::span<std::uint8_t> out, Duration wait) {
  pollfd ready{file_, POLLIN, 0};
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  poll(&ready, 1, static_cast<int>(milliseconds));
  const ssize_t got = ::read(file_, out.data(), out.size());
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

}  // namespace narrowgauge::board
