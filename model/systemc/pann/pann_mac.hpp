// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_pann_mac: ports, latency and back-pressure of rtl/pann/ng_pann_mac.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/pann/pann_mac_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int x_width, int w_width, int acc_width, class Core = PannMacCore<acc_width>>
class PannMac : public Clocked {
  static_assert(acc_width >= x_width, "PannMac: acc_width must be at least x_width");

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<bool> first_i{"first_i"}, last_i{"last_i"};
  sc_core::sc_in<Port<x_width>> x_i{"x_i"};
  sc_core::sc_in<Port<w_width>> w_i{"w_i"};
  sc_core::sc_in<bool> negative_i{"negative_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<acc_width>> result_o{"result_o"};

  explicit PannMac(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const PannElement element{.first = first_i,
                              .last = last_i,
                              .x = words_of<x_width>(x_i)[0],
                              .w = words_of<w_width>(w_i)[0],
                              .negative = negative_i};
    core_.step(valid_i ? &element : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    result_o = port_of_signed<acc_width>(core_.result());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
