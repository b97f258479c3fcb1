// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_map_encode: ports, latency and back-pressure of rtl/codec/ng_map_encode.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/codec/map_encode_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int width, int runs, class Core = MapEncodeCore<width, runs == 1>>
class MapEncode : public Clocked {
 public:
  sc_core::sc_in<bool> table_we_i{"table_we_i"};
  sc_core::sc_in<Port<9>> table_addr_i{"table_addr_i"};
  sc_core::sc_in<Port<16>> table_data_i{"table_data_i"};
  sc_core::sc_in<bool> s_axis_tvalid_i{"s_axis_tvalid_i"};
  sc_core::sc_out<bool> s_axis_tready_o{"s_axis_tready_o"};
  sc_core::sc_in<Port<8>> s_axis_tdata_i{"s_axis_tdata_i"};
  sc_core::sc_in<bool> s_axis_tlast_i{"s_axis_tlast_i"};
  sc_core::sc_out<bool> m_axis_tvalid_o{"m_axis_tvalid_o"};
  sc_core::sc_in<bool> m_axis_tready_i{"m_axis_tready_i"};
  sc_core::sc_out<Port<width>> m_axis_tdata_o{"m_axis_tdata_o"};
  sc_core::sc_out<bool> m_axis_tlast_o{"m_axis_tlast_o"};

  explicit MapEncode(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    if (table_we_i) core_.load(table_addr_i.read(), static_cast<std::uint16_t>(table_data_i.read()));
    const typename Core::Value value{static_cast<std::uint8_t>(s_axis_tdata_i.read()), s_axis_tlast_i};
    core_.step(s_axis_tvalid_i ? &value : nullptr, m_axis_tready_i);
  }
  void drive() override {
    s_axis_tready_o = core_.ready();
    m_axis_tvalid_o = core_.valid();
    m_axis_tdata_o = static_cast<Port<width>>(core_.word().bits);
    m_axis_tlast_o = core_.word().last;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
