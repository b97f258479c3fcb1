// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/io/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "narrowgauge/io/error.hpp"

namespace narrowgauge::io {

std::uint64_t memory_bytes() {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const std::uint64_t machine = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t limit = 0;
  std::ifstream container("/sys/fs/cgroup/memory.max");  // "max" where there is none
  return container >> limit && limit > 0 ? std::min(machine, limit) : machine;
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", bytes, units[unit]);
  return text;
}

void check_memory(double bytes, const std::string& what) {
  const auto memory = static_cast<double>(memory_bytes());
  if (bytes > memory) {
    throw Error(what + " takes " + bytes_text(bytes) + " of memory, and there are " + bytes_text(memory) +
                "; use smaller matrices, or a part at a time");
  }
}

}  // namespace narrowgauge::io
