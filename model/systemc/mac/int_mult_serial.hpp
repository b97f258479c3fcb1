// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_int_mult_serial: ports, latency and back-pressure of rtl/mac/ng_int_mult_serial.sv.
#pragma once

#include "systemc/mac/int_mult_serial_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <IntMultSerialParams params, class Core = IntMultSerialCore<params>>
struct IntMultSerial : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int a_width = params.a.width, b_width = params.b.width, product_width = a_width + b_width;
  In<a_width> a_i{"a_i"};
  In<b_width> b_i{"b_i"};
  Out<product_width> product_o{"product_o"};

 private:
  void step(Core& core) override { core.step(valid_i, a_i.words()[0], b_i.words()[0], ready_i); }
  void drive(const Core& core) override {
    handshake(core);
    product_o = core.product();
  }
};

}  // namespace narrowgauge::systemc
