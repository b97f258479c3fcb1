// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_axil_fifos: ports and latency of rtl/board/ng_axil_fifos.sv.
#pragma once

#include <cstddef>

#include "systemc/board/axil_fifos_core.hpp"
#include "systemc/shell.hpp"
#include "systemc/tile/lite_slave.hpp"

namespace narrowgauge::systemc {

/// `Core`: an AxilFifosCore.
template <class Core>
struct AxilFifos : Shell<Core>, LiteSlave {
  using Shell<Core>::Shell;
  static constexpr int width = 8 * static_cast<int>(Core::stream_bytes);
  Out<1> m_axis_tvalid_o{"m_axis_tvalid_o"};
  In<1> m_axis_tready_i{"m_axis_tready_i"};
  Out<width> m_axis_tdata_o{"m_axis_tdata_o"};
  Out<1> m_axis_tlast_o{"m_axis_tlast_o"};
  In<1> s_axis_tvalid_i{"s_axis_tvalid_i"};
  Out<1> s_axis_tready_o{"s_axis_tready_o"};
  In<width> s_axis_tdata_i{"s_axis_tdata_i"};

 private:
  void step(Core& core) override {
    typename Core::Inputs in;
    in.bus = lite_master();
    in.out_ready = m_axis_tready_i;
    in.in_valid = s_axis_tvalid_i;
    const PortWords<width> words = words_of<width>(s_axis_tdata_i.read());
    for (std::size_t i = 0; i < in.in.size(); ++i) in.in[i] = words[i];
    core.step(in);
  }
  void drive(const Core& core) override {
    drive_lite(core.pins());
    m_axis_tvalid_o = core.streams().out_valid();
    m_axis_tlast_o = core.streams().out_last();
    PortWords<width> words{};
    const auto out = core.streams().out();
    for (std::size_t i = 0; i < out.size(); ++i) words[i] = out[i];
    m_axis_tdata_o = port_of<width>(words);
    s_axis_tready_o = core.streams().in_ready(false);
  }
};

}  // namespace narrowgauge::systemc
