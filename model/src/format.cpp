// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/format/format.hpp"

#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge {

Format find_format(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < format_table.size(); ++i) {
    if (format_table[i].name == name) return static_cast<Format>(i);
    known += (i ? ", " : "") + std::string(format_table[i].name);
  }
  throw Error("unknown number format '" + std::string(name) + "'; expected one of " + known);
}

}  // namespace narrowgauge
