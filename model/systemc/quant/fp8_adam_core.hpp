// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_fp8_adam.sv.
#pragma once

#include <cstdint>

#include "narrowgauge/quant/fp8_adam.hpp"

namespace narrowgauge::systemc {

/// The new weight and moments of an element, fp8_adam_steps() edges after the one that takes it. Outputs are functions
/// of the state; step() is a clock edge.
class Fp8AdamCore {
 public:
  void reset() { *this = {}; }

  bool ready() const { return idle_; }
  bool valid() const { return !idle_ && to_go_ == 0; }
  /// Beside valid(); else zeros.
  Fp8AdamElement element() const { return valid() ? element_ : Fp8AdamElement{}; }

  /// valid: an element is offered. ready: ready_i.
  void step(bool valid, const Fp8AdamConstants& constants, std::uint32_t gradient, const Fp8AdamElement& old,
            bool ready) {
    if (idle_) {
      if (!valid) return;
      idle_ = false;
      Fp8AdamTrace trace;
      element_ = fp8_adam(constants, gradient, old, &trace);
      to_go_ = fp8_adam_steps(element_, trace);
    } else if (to_go_ > 0) {
      --to_go_;
    } else {
      idle_ = ready;
    }
  }

 private:
  Fp8AdamElement element_;
  int to_go_ = 0;  ///< edges
  bool idle_ = true;
};

}  // namespace narrowgauge::systemc
