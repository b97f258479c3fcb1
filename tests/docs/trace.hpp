// SPDX-License-Identifier: Apache-2.0
// Writes what signals were in each cycle, just before its clock edge, as docs/pictures/*.trace have it: names in a
// line, then a line a cycle, numbers in hexadecimal.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace narrowgauge::trace {

class Writer {
 public:
  explicit Writer(const char* says) { std::printf("# %s\n", says); }

  void cycle(const std::vector<std::pair<std::string_view, std::uint64_t>>& signals) {
    if (cycle_ == 0) {
      std::printf("cycle");
      for (const auto& [name, value] : signals) std::printf(" %.*s", static_cast<int>(name.size()), name.data());
      std::printf("\n");
    }
    std::printf("%u", cycle_++);
    for (const auto& [name, value] : signals) std::printf(" %" PRIx64, value);
    std::printf("\n");
  }

 private:
  unsigned cycle_ = 0;
};

}  // namespace narrowgauge::trace
