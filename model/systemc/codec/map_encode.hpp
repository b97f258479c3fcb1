// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_map_encode: ports, latency and back-pressure of rtl/codec/ng_map_encode.sv.
#pragma once

#include "systemc/codec/map_encode_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int width, int runs, class Core = MapEncodeCore<width, runs == 1>>
struct MapEncode : Shell<Core> {
  using Shell<Core>::Shell;
  In<1> table_we_i{"table_we_i"};
  In<9> table_addr_i{"table_addr_i"};
  In<16> table_data_i{"table_data_i"};
  In<1> s_axis_tvalid_i{"s_axis_tvalid_i"};
  Out<1> s_axis_tready_o{"s_axis_tready_o"};
  In<8> s_axis_tdata_i{"s_axis_tdata_i"};
  In<1> s_axis_tlast_i{"s_axis_tlast_i"};
  Out<1> m_axis_tvalid_o{"m_axis_tvalid_o"};
  In<1> m_axis_tready_i{"m_axis_tready_i"};
  Out<width> m_axis_tdata_o{"m_axis_tdata_o"};
  Out<1> m_axis_tlast_o{"m_axis_tlast_o"};

 private:
  void step(Core& core) override {
    if (table_we_i) core.load(table_addr_i.read(), table_data_i.value());
    const typename Core::Value value{s_axis_tdata_i.value(), s_axis_tlast_i};
    core.step(s_axis_tvalid_i ? &value : nullptr, m_axis_tready_i);
  }
  void drive(const Core& core) override {
    s_axis_tready_o = core.ready();
    m_axis_tvalid_o = core.valid();
    m_axis_tdata_o = core.word().bits;
    m_axis_tlast_o = core.word().last;
  }
};

}  // namespace narrowgauge::systemc
