// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/mac/ng_fp_mac.sv.
#pragma once

#include <cstdint>

#include "narrowgauge/mac/fp_mac.hpp"

namespace narrowgauge::systemc {

/// acc = a * b + acc in FP32, operands in `format`. Outputs are functions of the state; step() is a clock edge.
template <Format format>
class FpMacCore {
 public:
  void reset() { *this = {}; }

  std::uint32_t acc() const { return sum_; }

  void step(bool valid, bool first, std::uint32_t a, std::uint32_t b) {
    if (valid) sum_ = fma_fp32(desc(format), a, b, first ? 0 : sum_);
  }

 private:
  std::uint32_t sum_ = 0;
};

}  // namespace narrowgauge::systemc
