// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_unsigned_mac: ports and latency of rtl/pann/ng_unsigned_mac.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/pann/unsigned_mac_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int x_width, int w_width, int acc_width, int schedule, class Core = UnsignedMacCore<acc_width, schedule == 0>>
class UnsignedMac : public Clocked {
  static_assert(acc_width >= x_width + w_width, "UnsignedMac: acc_width must hold a product");
  static_assert(schedule >= 0 && schedule <= 2, "UnsignedMac: schedule must be 0 (sorted), 1 (dual) or 2 (muxed)");

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"}, first_i{"first_i"}, last_i{"last_i"};
  sc_core::sc_in<Port<x_width>> x_i{"x_i"};
  sc_core::sc_in<Port<w_width>> w_i{"w_i"};
  sc_core::sc_in<bool> negative_i{"negative_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_out<Port<acc_width>> result_o{"result_o"};

  explicit UnsignedMac(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    core_.step(valid_i, first_i, last_i, words_of<x_width>(x_i)[0], words_of<w_width>(w_i)[0], negative_i);
  }
  void drive() override {
    valid_o = core_.valid();
    result_o = port_of_signed<acc_width>(core_.result());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
