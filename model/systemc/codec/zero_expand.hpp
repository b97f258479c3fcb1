// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_zero_expand: ports, latency and back-pressure of rtl/codec/ng_zero_expand.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/codec/zero_expand_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <class Core = ZeroExpandCore>
class ZeroExpand : public Clocked {
 public:
  sc_core::sc_in<bool> table_we_i{"table_we_i"};
  sc_core::sc_in<Port<3>> table_addr_i{"table_addr_i"};
  sc_core::sc_in<Port<8>> table_data_i{"table_data_i"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<8>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_in<bool> fault_i{"fault_i"};
  sc_core::sc_in<bool> void_i{"void_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<8>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"};
  sc_core::sc_out<bool> fault_o{"fault_o"};
  sc_core::sc_out<bool> void_o{"void_o"};

  explicit ZeroExpand(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    if (table_we_i) core_.load(table_addr_i.read(), static_cast<std::uint8_t>(table_data_i.read()));
    const typename Core::Beat beat{static_cast<std::uint8_t>(data_i.read()), last_i, fault_i, void_i};
    core_.step(valid_i ? &beat : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = core_.beat().value;
    last_o = core_.beat().last;
    fault_o = core_.beat().fault;
    void_o = core_.beat().empty;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
