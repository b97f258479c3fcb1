// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/mac/ng_int_mult_serial.sv.
#pragma once

#include <algorithm>
#include <cstdint>

#include "narrowgauge/mac/int_mult_serial.hpp"

namespace narrowgauge::systemc {

struct IntMultSerialParams {
  IntFormat a, b;  ///< b of 2 bits or more
};

/// Product of a pair in as many cycles as b has bits. Outputs are functions of the state; step() is a clock edge.
template <IntMultSerialParams params>
class IntMultSerialCore {
  static_assert(params.b.width >= 2, "IntMultSerialCore: b must have 2 bits or more");

 public:
  void reset() { *this = {}; }

  bool ready() const { return to_go_ == 0; }
  bool valid() const { return to_go_ == 1; }
  /// The register's next value; beside valid() the product, which stays until the next pair.
  std::uint32_t product() const {
    return serial_register(params.a, a_, params.b, b_, params.b.width + 1 - std::max(to_go_, 1));
  }

  /// valid: a pair is offered. ready: ready_i.
  void step(bool valid, std::uint32_t a, std::uint32_t b, bool ready) {
    if (to_go_ > 1 || (to_go_ == 1 && ready)) {
      --to_go_;
    } else if (to_go_ == 0 && valid) {
      a_ = a;
      b_ = b;
      to_go_ = params.b.width - 1;
    }
  }

 private:
  std::uint32_t a_ = 0, b_ = 0;
  int to_go_ = 0;  ///< steps
};

}  // namespace narrowgauge::systemc
