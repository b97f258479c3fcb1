// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_int_mult_serial: ports, latency and back-pressure of rtl/mac/ng_int_mult_serial.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/mac/int_mult_serial_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <IntMultSerialParams params, class Core = IntMultSerialCore<params>>
class IntMultSerial : public Clocked {
 public:
  static constexpr int a_width = params.a.width, b_width = params.b.width, product_width = a_width + b_width;
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<a_width>> a_i{"a_i"};
  sc_core::sc_in<Port<b_width>> b_i{"b_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<product_width>> product_o{"product_o"};

  explicit IntMultSerial(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i, words_of<a_width>(a_i)[0], words_of<b_width>(b_i)[0], ready_i); }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    product_o = port_of<product_width>({core_.product()});
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
