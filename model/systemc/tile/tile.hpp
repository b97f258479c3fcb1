// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile: ports, latency and back-pressure of rtl/tile/ng_tile.sv.
#pragma once

#include <algorithm>

#include "systemc/port.hpp"
#include "systemc/tile/lite_slave.hpp"
#include "systemc/tile/tile_core.hpp"

namespace narrowgauge::systemc {

template <TileParams params, class Core = TileCore<params>>
class Tile : public LiteSlave {
  static constexpr int stream_width = params.stream_width;

 public:
  // Operands, AXI4-Stream.
  sc_core::sc_in<bool> s_axis_tvalid_i{"s_axis_tvalid_i"};
  sc_core::sc_out<bool> s_axis_tready_o{"s_axis_tready_o"};
  sc_core::sc_in<Port<stream_width>> s_axis_tdata_i{"s_axis_tdata_i"};
  sc_core::sc_in<bool> s_axis_tlast_i{"s_axis_tlast_i"};
  // Results, AXI4-Stream.
  sc_core::sc_out<bool> m_axis_tvalid_o{"m_axis_tvalid_o"};
  sc_core::sc_in<bool> m_axis_tready_i{"m_axis_tready_i"};
  sc_core::sc_out<Port<stream_width>> m_axis_tdata_o{"m_axis_tdata_o"};
  sc_core::sc_out<bool> m_axis_tlast_o{"m_axis_tlast_o"};
  sc_core::sc_out<bool> irq_o{"irq_o"};

  explicit Tile(sc_core::sc_module_name name) : LiteSlave(name) {}

 private:
  void reset() override { core_.reset(); }
  void drive() override {
    const TileOut out = core_.out();
    drive_lite(out.lite);
    s_axis_tready_o = out.operand_ready;
    m_axis_tvalid_o = out.result != nullptr;
    m_axis_tlast_o = out.result_last;
    irq_o = out.irq;
    if (out.result) {
      PortWords<stream_width> words;
      std::copy_n(out.result, words.size(), words.begin());
      m_axis_tdata_o = port_of<stream_width>(words);
    }
  }

  void step() override {
    const PortWords<stream_width> operand = words_of<stream_width>(s_axis_tdata_i);
    core_.step({.lite = lite_master(),
                .operand = s_axis_tvalid_i ? operand.data() : nullptr,
                .operand_last = s_axis_tlast_i,
                .result_ready = m_axis_tready_i});
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
