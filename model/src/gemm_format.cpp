// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/gemm_format.hpp"

#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge {

const GemmFormat& find_gemm_format(std::string_view name) {
  std::string known;
  for (const GemmFormat& format : gemm_formats) {
    if (format.name == name) return format;
    known += (known.empty() ? "" : ", ") + std::string(format.name);
  }
  throw Error("unknown matrix product format '" + std::string(name) + "'; expected one of " + known);
}

}  // namespace narrowgauge
