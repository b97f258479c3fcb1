// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/mac/ng_mxfp4_mac.sv.
#pragma once

#include <cstdint>
#include <span>

#include "narrowgauge/mac/mxfp4_mac.hpp"

namespace narrowgauge::systemc {

/// Running FP32 sum of MXFP4 blocks of 32 codes. Outputs are functions of the state; step() is a clock edge.
/// `pipelined`: a register before the addition, the sum comes one edge later.
template <bool pipelined = false>
class Mxfp4MacCore {
 public:
  void reset() { *this = {}; }

  std::uint32_t acc() const { return pipelined ? shown_ : sum_; }

  void step(bool valid, bool first, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
            std::uint8_t a_scale, std::uint8_t b_scale) {
    shown_ = sum_;
    if (valid) sum_ = mx_add(first ? 0 : sum_, mxfp4_dot(a, b, a_scale, b_scale));
  }

 private:
  std::uint32_t sum_ = 0;    // with the block of the last edge
  std::uint32_t shown_ = 0;  // without it
};

}  // namespace narrowgauge::systemc
