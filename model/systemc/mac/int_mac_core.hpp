// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/mac/ng_int_mac.sv.
#pragma once

#include <cstdint>
#include <span>

#include "narrowgauge/mac/int_mac.hpp"

namespace narrowgauge::systemc {

/// Integer multiply-accumulate; the sum is modulo 2^acc_width. Outputs are functions of the state; step() is a clock
/// edge.
struct IntMacParams {
  IntFormat a, b;
  int lanes = 1;           ///< 1 to 1024
  int acc_width = 32;      ///< up to 128
  bool pipelined = false;  ///< a register before the accumulator: the sum comes one edge later
};

template <IntMacParams params>
class IntMacCore {
 public:
  void reset() { *this = {}; }

  __int128 acc() const { return params.pipelined ? shown_ : sum_; }

  /// a and b: one code a lane.
  void step(bool valid, bool first, std::span<const std::uint16_t> a, std::span<const std::uint16_t> b) {
    shown_ = sum_;
    if (valid) sum_ = int_accumulate(first ? 0 : sum_, int_dot(params.a, a, params.b, b), params.acc_width);
  }

 private:
  __int128 sum_ = 0;    // with the operands of the last edge
  __int128 shown_ = 0;  // without them
};

}  // namespace narrowgauge::systemc
