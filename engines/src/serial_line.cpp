// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/board/serial_line.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "descriptor.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge::board {

namespace {

constexpr std::pair<unsigned, speed_t> rates[] = {
    {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},     {115200, B115200},
    {230400, B230400},   {460800, B460800},   {500000, B500000},   {576000, B576000},   {921600, B921600},
    {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000}, {2500000, B2500000}, {3000000, B3000000},
    {3500000, B3500000}, {4000000, B4000000}};

speed_t rate_of(unsigned baud) {
  std::string known;
  for (const auto& [number, code] : rates) {
    if (number == baud) return code;
    known += (known.empty() ? "" : ", ") + std::to_string(number);
  }
  throw Error("the rate of " + std::to_string(baud) + " baud is none of a serial device; expected one of " + known);
}

std::string reason() { return std::strerror(errno); }

}  // namespace

std::string set_latency_timer(const std::string& device, const std::string& sysfs) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path real = fs::canonical(device, ignored);
  const fs::path timer = fs::path(sysfs) / "bus/usb-serial/devices" / real.filename() / "latency_timer";
  unsigned milliseconds = 0;
  if (!(std::ifstream(timer) >> milliseconds) || milliseconds <= 1) return {};
  {
    std::ofstream file(timer);
    file << 1 << std::flush;
  }
  std::ifstream(timer) >> milliseconds;
  if (milliseconds <= 1) return {};
  return "the FTDI chip of " + device + " holds short answers back for " + std::to_string(milliseconds) +
         " ms, which makes every round trip that slow; as root: echo 1 > " + timer.string();
}

SerialLine::SerialLine(const std::string& device, unsigned baud) : device_(device) {
  const speed_t rate = rate_of(baud);
  byte_time_ = Duration(10'000'000'000LL / baud);
  file_ = open(device.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (file_ < 0) {
    const int error = errno;
    throw Error("the serial device " + device + " cannot be opened: " + std::strerror(error) +
                (error == EACCES ? "; your user may need to be in its group, often dialout" : ""));
  }
  const auto refuse = [&](const std::string& why) {
    close(file_);
    throw Error(why);
  };
  termios settings{};
  if (tcgetattr(file_, &settings) != 0) refuse(device + " is no serial device: " + reason());
  if (flock(file_, LOCK_EX | LOCK_NB) != 0)
    refuse("the serial device " + device +
           (errno == EWOULDBLOCK ? " is in use by another program" : " cannot be locked: " + reason()));
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~(CSTOPB | CRTSCTS);
  settings.c_cc[VMIN] = 0;
  settings.c_cc[VTIME] = 0;
  if (cfsetspeed(&settings, rate) != 0 || tcsetattr(file_, TCSANOW, &settings) != 0)
    refuse("the serial device " + device + " does not take " + std::to_string(baud) + " baud: " + reason());
  tcflush(file_, TCIOFLUSH);
  advice_ = set_latency_timer(device);
}

SerialLine::~SerialLine() { close(file_); }

void SerialLine::send(std::span<const std::uint8_t> bytes) {
  if (!write_all(file_, bytes, 2000, "the serial device " + device_))
    throw Error("the serial device " + device_ + " takes no bytes for 2 s");
}

std::size_t SerialLine::receive(std::span<std::uint8_t> out, Duration wait) {
  for (const Duration end = now() + wait;;) {
    const ssize_t got = ::read(file_, out.data(), out.size());
    if (got > 0) return static_cast<std::size_t>(got);
    if (got < 0 && errno != EAGAIN && errno != EINTR)
      throw Error("the serial device " + device_ + " cannot be read: " + reason() + "; was it unplugged?");
    const Duration left = end - now();
    if (left <= Duration{}) return 0;
    const auto nanoseconds = left.count();
    const timespec time{static_cast<time_t>(nanoseconds / 1'000'000'000),
                        static_cast<long>(nanoseconds % 1'000'000'000)};
    pollfd ready{file_, POLLIN, 0};
    ppoll(&ready, 1, &time, nullptr);
    if (ready.revents & (POLLERR | POLLHUP | POLLNVAL))
      throw Error("the serial device " + device_ + " is gone; was it unplugged?");
  }
}

Duration SerialLine::now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace narrowgauge::board
