// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile: ports, latency and back-pressure of rtl/tile/ng_tile.sv.
#pragma once

#include <algorithm>

#include "systemc/shell.hpp"
#include "systemc/tile/lite_slave.hpp"
#include "systemc/tile/tile_core.hpp"

namespace narrowgauge::systemc {

template <TileParams params, class Core = TileCore<params>>
struct Tile : Shell<Core>, LiteSlave {
  using Shell<Core>::Shell;
  static constexpr int stream_width = params.stream_width;

  // Operands, AXI4-Stream.
  In<1> s_axis_tvalid_i{"s_axis_tvalid_i"};
  Out<1> s_axis_tready_o{"s_axis_tready_o"};
  In<stream_width> s_axis_tdata_i{"s_axis_tdata_i"};
  In<1> s_axis_tlast_i{"s_axis_tlast_i"};
  // Results, AXI4-Stream.
  Out<1> m_axis_tvalid_o{"m_axis_tvalid_o"};
  In<1> m_axis_tready_i{"m_axis_tready_i"};
  Out<stream_width> m_axis_tdata_o{"m_axis_tdata_o"};
  Out<1> m_axis_tlast_o{"m_axis_tlast_o"}, irq_o{"irq_o"};

 private:
  void drive(const Core& core) override {
    const TileOut out = core.out();
    drive_lite(out.lite);
    s_axis_tready_o = out.operand_ready;
    m_axis_tvalid_o = out.result != nullptr;
    m_axis_tlast_o = out.result_last;
    irq_o = out.irq;
    if (out.result) {
      PortWords<stream_width> words;
      std::copy_n(out.result, words.size(), words.begin());
      m_axis_tdata_o = words;
    }
  }

  void step(Core& core) override {
    const PortWords<stream_width> operand = s_axis_tdata_i.words();
    core.step({.lite = lite_master(),
               .operand = s_axis_tvalid_i ? operand.data() : nullptr,
               .operand_last = s_axis_tlast_i,
               .result_ready = m_axis_tready_i});
  }
};

}  // namespace narrowgauge::systemc
