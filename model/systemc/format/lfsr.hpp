// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_lfsr: ports, latency and back-pressure of rtl/format/ng_lfsr.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/format/lfsr_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <LfsrParams params, class Core = LfsrCore<params>>
class Lfsr : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_in<Port<params.width>> state_i{"state_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<params.bits>> random_o{"random_o"};
  sc_core::sc_out<Port<params.width>> state_o{"state_o"};

  explicit Lfsr(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i, state_i.read(), ready_i); }
  void drive() override {
    valid_o = core_.valid();
    random_o = port_of<params.bits>(core_.random());
    state_o = static_cast<Port<params.width>>(core_.state());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
