// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/pann/ng_pann_mac.sv.
#pragma once

#include <cstdint>

#include "systemc/pann/unsigned_mac_core.hpp"

namespace narrowgauge::systemc {

/// An element of an output: activation, magnitude and sign of its weight.
struct PannElement {
  bool first = false, last = false;
  std::uint32_t x = 0, w = 0;
  bool negative = false;
};

/// Multiplication by repeated addition. Outputs are functions of the state; step() is a clock edge.
template <int acc_width>
class PannMacCore {
 public:
  void reset() { *this = {}; }

  bool ready() const { return !valid_ && (!busy_ || element_.w <= 1); }
  bool valid() const { return valid_; }
  std::int64_t result() const { return valid_ ? sum_.value() : 0; }

  /// `element`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const PannElement* element, bool ready) {
    const bool take = element && this->ready();
    if (!valid_ || ready) {
      valid_ = false;
      if (busy_) work();
    }
    if (take) {
      busy_ = true;
      element_ = *element;
    }
  }

 private:
  /// One addition, or the one cycle of a zero weight. element_.w counts what is to go.
  void work() {
    if (element_.first) {
      sum_.clear();
      minus_ = false;
    }
    element_.first = false;
    if (element_.w > 0) {
      minus_ |= element_.negative;
      sum_.add(minus_, element_.x);
      --element_.w;
    }
    busy_ = element_.w > 0;
    valid_ = !busy_ && element_.last;
  }

  PannElement element_;
  SplitSum<acc_width> sum_;
  bool busy_ = false, minus_ = false, valid_ = false;
};

}  // namespace narrowgauge::systemc
