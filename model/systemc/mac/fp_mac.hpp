// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fp_mac: ports and latency of rtl/mac/ng_fp_mac.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/mac/fp_mac_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <Format format, class Core = FpMacCore<format>>
class FpMac : public Clocked {
 public:
  static constexpr int width = desc(format).bits;
  sc_core::sc_in<bool> valid_i{"valid_i"}, first_i{"first_i"};
  sc_core::sc_in<Port<width>> a_i{"a_i"}, b_i{"b_i"};
  sc_core::sc_out<Port<32>> acc_o{"acc_o"};

  explicit FpMac(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i, first_i, a_i, b_i); }
  void drive() override { acc_o = core_.acc(); }

  Core core_;
};

}  // namespace narrowgauge::systemc
