// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/mac/ng_rsqrt_fp32.sv.
#pragma once

#include <cstdint>

#include "narrowgauge/mac/rsqrt_fp32.hpp"

namespace narrowgauge::systemc {

/// The reciprocal root of a number, rsqrt_fp32_steps() edges after the one that takes it. Outputs are functions of the
/// state; step() is a clock edge.
class RsqrtFp32Core {
 public:
  void reset() { *this = {}; }

  bool ready() const { return idle_; }
  bool valid() const { return !idle_ && to_go_ == 0; }
  /// Beside valid(); else 0.
  std::uint32_t y() const { return valid() ? y_ : 0; }

  /// valid: a number is offered. ready: ready_i.
  void step(bool valid, std::uint32_t a, bool ready) {
    if (idle_) {
      if (!valid) return;
      idle_ = false;
      y_ = rsqrt_fp32(a);
      to_go_ = rsqrt_fp32_steps(a);
    } else if (to_go_ > 0) {
      --to_go_;
    } else {
      idle_ = ready;
    }
  }

 private:
  std::uint32_t y_ = 0;
  int to_go_ = 0;  ///< steps
  bool idle_ = true;
};

}  // namespace narrowgauge::systemc
