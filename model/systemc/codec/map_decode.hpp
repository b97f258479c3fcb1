// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_map_decode: ports, latency and back-pressure of rtl/codec/ng_map_decode.sv.
#pragma once

#include "systemc/codec/map_decode_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int width, int runs, int count_bits, class Core = MapDecodeCore<width, runs == 1>>
struct MapDecode : Shell<Core> {
  using Shell<Core>::Shell;
  In<1> table_we_i{"table_we_i"};
  In<10> table_addr_i{"table_addr_i"};
  In<21> table_data_i{"table_data_i"};
  In<1> s_axis_tvalid_i{"s_axis_tvalid_i"};
  Out<1> s_axis_tready_o{"s_axis_tready_o"};
  In<width> s_axis_tdata_i{"s_axis_tdata_i"};
  In<count_bits> s_axis_tuser_i{"s_axis_tuser_i"};
  In<1> s_axis_tlast_i{"s_axis_tlast_i"};
  Out<1> m_axis_tvalid_o{"m_axis_tvalid_o"};
  In<1> m_axis_tready_i{"m_axis_tready_i"};
  Out<8> m_axis_tdata_o{"m_axis_tdata_o"};
  Out<1> m_axis_tkeep_o{"m_axis_tkeep_o"}, m_axis_tuser_o{"m_axis_tuser_o"}, m_axis_tlast_o{"m_axis_tlast_o"};

 private:
  void step(Core& core) override {
    if (table_we_i) core.load(table_addr_i.read(), table_data_i.read());
    const typename Core::Word word{s_axis_tdata_i.read(), s_axis_tuser_i.value(), s_axis_tlast_i};
    core.step(s_axis_tvalid_i ? &word : nullptr, m_axis_tready_i);
  }
  void drive(const Core& core) override {
    s_axis_tready_o = core.ready();
    m_axis_tvalid_o = core.valid();
    m_axis_tdata_o = core.beat().value;
    m_axis_tkeep_o = !core.beat().empty;
    m_axis_tuser_o = core.beat().fault;
    m_axis_tlast_o = core.beat().last;
  }
};

}  // namespace narrowgauge::systemc
