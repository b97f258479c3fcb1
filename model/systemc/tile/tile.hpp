// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile: ports, latency and back-pressure of rtl/tile/ng_tile.sv.
#pragma once

#include <algorithm>

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/tile/tile_core.hpp"

namespace narrowgauge::systemc {

template <TileParams params, class Core = TileCore<params>>
class Tile : public Clocked {
  static constexpr int stream_width = params.stream_width;

 public:
  // Control and status, AXI4-Lite slave.
  sc_core::sc_in<bool> s_axil_awvalid_i{"s_axil_awvalid_i"};
  sc_core::sc_out<bool> s_axil_awready_o{"s_axil_awready_o"};
  sc_core::sc_in<Port<12>> s_axil_awaddr_i{"s_axil_awaddr_i"};
  sc_core::sc_in<bool> s_axil_wvalid_i{"s_axil_wvalid_i"};
  sc_core::sc_out<bool> s_axil_wready_o{"s_axil_wready_o"};
  sc_core::sc_in<Port<32>> s_axil_wdata_i{"s_axil_wdata_i"};
  sc_core::sc_in<Port<4>> s_axil_wstrb_i{"s_axil_wstrb_i"};
  sc_core::sc_out<bool> s_axil_bvalid_o{"s_axil_bvalid_o"};
  sc_core::sc_in<bool> s_axil_bready_i{"s_axil_bready_i"};
  sc_core::sc_out<Port<2>> s_axil_bresp_o{"s_axil_bresp_o"};
  sc_core::sc_in<bool> s_axil_arvalid_i{"s_axil_arvalid_i"};
  sc_core::sc_out<bool> s_axil_arready_o{"s_axil_arready_o"};
  sc_core::sc_in<Port<12>> s_axil_araddr_i{"s_axil_araddr_i"};
  sc_core::sc_out<bool> s_axil_rvalid_o{"s_axil_rvalid_o"};
  sc_core::sc_in<bool> s_axil_rready_i{"s_axil_rready_i"};
  sc_core::sc_out<Port<32>> s_axil_rdata_o{"s_axil_rdata_o"};
  sc_core::sc_out<Port<2>> s_axil_rresp_o{"s_axil_rresp_o"};
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

  explicit Tile(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void drive() override {
    const TileOut out = core_.out();
    s_axil_awready_o = out.lite.awready;
    s_axil_wready_o = out.lite.wready;
    s_axil_bvalid_o = out.lite.bvalid;
    s_axil_bresp_o = out.lite.bresp;
    s_axil_arready_o = out.lite.arready;
    s_axil_rvalid_o = out.lite.rvalid;
    s_axil_rdata_o = out.lite.rdata;
    s_axil_rresp_o = out.lite.rresp;
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
    core_.step({.lite = {.awvalid = s_axil_awvalid_i,
                         .wvalid = s_axil_wvalid_i,
                         .bready = s_axil_bready_i,
                         .arvalid = s_axil_arvalid_i,
                         .rready = s_axil_rready_i,
                         .awaddr = s_axil_awaddr_i,
                         .wdata = s_axil_wdata_i,
                         .araddr = s_axil_araddr_i,
                         .wstrb = static_cast<std::uint8_t>(s_axil_wstrb_i.read())},
                .operand = s_axis_tvalid_i ? operand.data() : nullptr,
                .operand_last = s_axis_tlast_i,
                .result_ready = m_axis_tready_i});
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
