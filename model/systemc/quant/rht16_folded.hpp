// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_rht16_folded: ports, latency and back-pressure of rtl/quant/ng_rht16_folded.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/rht16_folded_core.hpp"

namespace narrowgauge::systemc {

template <int lanes, int window, class Core = Rht16FoldedCore<lanes, window>>
class Rht16Folded : public Clocked {
  static constexpr int bits = 16 * lanes;

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<bits>> x_i{"x_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<bits>> y_o{"y_o"};
  sc_core::sc_out<bool> exact_o{"exact_o"};

  explicit Rht16Folded(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const auto beat = fields_of<lanes, 16>(x_i);
    core_.step(valid_i ? &beat : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    y_o = port_of_fields<16>(core_.beat());
    exact_o = core_.exact();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
