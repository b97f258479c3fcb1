// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_uart_bridge: ports and latency of rtl/board/ng_uart_bridge.sv.
#pragma once

#include <cstddef>
#include <cstdint>

#include "systemc/board/uart_bridge_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

/// `Core`: a UartBridgeCore.
template <class Core>
struct UartBridge : Shell<Core> {
  using Shell<Core>::Shell;
  static constexpr int width = 8 * static_cast<int>(Core::stream_bytes);
  In<1> rx_i{"rx_i"};
  Out<1> tx_o{"tx_o"};
  Out<1> m_axil_awvalid_o{"m_axil_awvalid_o"};
  In<1> m_axil_awready_i{"m_axil_awready_i"};
  Out<12> m_axil_awaddr_o{"m_axil_awaddr_o"};
  Out<1> m_axil_wvalid_o{"m_axil_wvalid_o"};
  In<1> m_axil_wready_i{"m_axil_wready_i"};
  Out<32> m_axil_wdata_o{"m_axil_wdata_o"};
  Out<4> m_axil_wstrb_o{"m_axil_wstrb_o"};
  In<1> m_axil_bvalid_i{"m_axil_bvalid_i"};
  Out<1> m_axil_bready_o{"m_axil_bready_o"};
  In<2> m_axil_bresp_i{"m_axil_bresp_i"};
  Out<1> m_axil_arvalid_o{"m_axil_arvalid_o"};
  In<1> m_axil_arready_i{"m_axil_arready_i"};
  Out<12> m_axil_araddr_o{"m_axil_araddr_o"};
  In<1> m_axil_rvalid_i{"m_axil_rvalid_i"};
  Out<1> m_axil_rready_o{"m_axil_rready_o"};
  In<32> m_axil_rdata_i{"m_axil_rdata_i"};
  In<2> m_axil_rresp_i{"m_axil_rresp_i"};
  Out<1> m_axis_tvalid_o{"m_axis_tvalid_o"};
  In<1> m_axis_tready_i{"m_axis_tready_i"};
  Out<width> m_axis_tdata_o{"m_axis_tdata_o"};
  Out<1> m_axis_tlast_o{"m_axis_tlast_o"};
  In<1> s_axis_tvalid_i{"s_axis_tvalid_i"};
  Out<1> s_axis_tready_o{"s_axis_tready_o"};
  In<width> s_axis_tdata_i{"s_axis_tdata_i"};
  Out<1> locked_o{"locked_o"}, running_o{"running_o"};

 private:
  void step(Core& core) override {
    typename Core::Inputs in;
    in.rx = rx_i;
    in.bus = {m_axil_awready_i, m_axil_wready_i,        m_axil_bvalid_i,        m_axil_arready_i,
              m_axil_rvalid_i,  m_axil_bresp_i.value(), m_axil_rresp_i.value(), m_axil_rdata_i.read()};
    in.out_ready = m_axis_tready_i;
    in.in_valid = s_axis_tvalid_i;
    const PortWords<width> words = words_of<width>(s_axis_tdata_i.read());
    for (std::size_t i = 0; i < in.in.size(); ++i) in.in[i] = words[i];
    core.step(in);
  }
  void drive(const Core& core) override {
    const auto& bus = core.bus();
    tx_o = core.tx();
    m_axil_awvalid_o = bus.awvalid;
    m_axil_wvalid_o = bus.wvalid;
    m_axil_arvalid_o = bus.arvalid;
    m_axil_awaddr_o = 4 * bus.addr;
    m_axil_araddr_o = 4 * bus.addr;
    m_axil_wdata_o = bus.wdata;
    m_axil_wstrb_o = 15U;
    m_axil_bready_o = bus.wait_write;
    m_axil_rready_o = bus.wait_read;
    m_axis_tvalid_o = core.streams().out_valid();
    m_axis_tlast_o = core.streams().out_last();
    PortWords<width> words{};
    const auto out = core.streams().out();
    for (std::size_t i = 0; i < out.size(); ++i) words[i] = out[i];
    m_axis_tdata_o = port_of<width>(words);
    s_axis_tready_o = core.in_ready();
    locked_o = core.locked();
    running_o = core.running();
  }
};

}  // namespace narrowgauge::systemc
