// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/scheme.hpp"

#include "narrowgauge/error.hpp"

namespace narrowgauge {

Scheme find_scheme(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < scheme_table.size(); ++i) {
    if (scheme_table[i].name == name) return static_cast<Scheme>(i);
    known += (i ? ", " : "") + std::string(scheme_table[i].name);
  }
  throw Error("unknown scheme '" + std::string(name) + "'; expected one of " + known);
}

std::string_view element_name(Scheme scheme, Format element) {
  return scheme == Scheme::int4 ? "int4" : desc(element).name;
}

std::string elements_text(Scheme scheme) {
  std::string names;
  std::string_view last;
  for (std::size_t i = 0; i < format_table.size(); ++i) {
    if (!has_element(scheme, static_cast<Format>(i))) continue;
    if (!last.empty()) names.append(names.empty() ? "" : ", ").append(last);
    last = element_name(scheme, static_cast<Format>(i));
  }
  return names.append(names.empty() ? "" : " or ").append(last);
}

}  // namespace narrowgauge
