// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fifo2: ports, latency and back-pressure of rtl/prim/ng_fifo2.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

template <int width, class Core = Fifo2Core<Port<width>>>
class Fifo2 : public Clocked {
  static_assert(width >= 1, "Fifo2: width must be 1 or more");

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<width>> data_i{"data_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<width>> data_o{"data_o"};

  explicit Fifo2(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i ? &data_i.read() : nullptr, ready_i); }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = core_.data();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
