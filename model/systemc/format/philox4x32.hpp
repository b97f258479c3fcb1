// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_philox4x32: ports, latency and back-pressure of rtl/format/ng_philox4x32.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/format/philox4x32_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int rounds_per_cycle, class Core = Philox4x32Core<rounds_per_cycle>>
class Philox4x32 : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<128>> counter_i{"counter_i"};
  sc_core::sc_in<Port<64>> key_i{"key_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<128>> random_o{"random_o"}, counter_o{"counter_o"};
  sc_core::sc_out<Port<64>> key_o{"key_o"};

  explicit Philox4x32(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i, words_of<128>(counter_i), words_of<64>(key_i), ready_i); }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    random_o = port_of<128>(core_.random());
    counter_o = port_of<128>(core_.counter());
    key_o = port_of<64>(core_.key());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
