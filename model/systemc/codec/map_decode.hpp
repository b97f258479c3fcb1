// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_map_decode: ports, latency and back-pressure of rtl/codec/ng_map_decode.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/codec/map_decode_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int width, int runs, int count_bits, class Core = MapDecodeCore<width, runs == 1>>
class MapDecode : public Clocked {
 public:
  sc_core::sc_in<bool> table_we_i{"table_we_i"};
  sc_core::sc_in<Port<10>> table_addr_i{"table_addr_i"};
  sc_core::sc_in<Port<21>> table_data_i{"table_data_i"};
  sc_core::sc_in<bool> s_axis_tvalid_i{"s_axis_tvalid_i"};
  sc_core::sc_out<bool> s_axis_tready_o{"s_axis_tready_o"};
  sc_core::sc_in<Port<width>> s_axis_tdata_i{"s_axis_tdata_i"};
  sc_core::sc_in<Port<count_bits>> s_axis_tuser_i{"s_axis_tuser_i"};
  sc_core::sc_in<bool> s_axis_tlast_i{"s_axis_tlast_i"};
  sc_core::sc_out<bool> m_axis_tvalid_o{"m_axis_tvalid_o"};
  sc_core::sc_in<bool> m_axis_tready_i{"m_axis_tready_i"};
  sc_core::sc_out<Port<8>> m_axis_tdata_o{"m_axis_tdata_o"};
  sc_core::sc_out<bool> m_axis_tkeep_o{"m_axis_tkeep_o"};
  sc_core::sc_out<bool> m_axis_tuser_o{"m_axis_tuser_o"};
  sc_core::sc_out<bool> m_axis_tlast_o{"m_axis_tlast_o"};

  explicit MapDecode(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    if (table_we_i) core_.load(table_addr_i.read(), table_data_i.read());
    const typename Core::Word word{s_axis_tdata_i.read(), static_cast<std::uint32_t>(s_axis_tuser_i.read()),
                                   s_axis_tlast_i};
    core_.step(s_axis_tvalid_i ? &word : nullptr, m_axis_tready_i);
  }
  void drive() override {
    s_axis_tready_o = core_.ready();
    m_axis_tvalid_o = core_.valid();
    m_axis_tdata_o = core_.beat().value;
    m_axis_tkeep_o = !core_.beat().empty;
    m_axis_tuser_o = core_.beat().fault;
    m_axis_tlast_o = core_.beat().last;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
