// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_ram: ports and latency of rtl/prim/ng_ram.sv.
#pragma once

#include <bit>
#include <systemc>

#include "systemc/port.hpp"
#include "systemc/prim/ram_core.hpp"

namespace narrowgauge::systemc {

template <int width, int depth, class Core = RamCore<Port<width>, depth>>
struct Ram : sc_core::sc_module {
  static_assert(width >= 1, "Ram: width must be 1 or more");
  static constexpr int addr_width = std::bit_width(static_cast<unsigned>(depth - 1));

  In<1> clk_i{"clk_i"}, we_i{"we_i"};
  In<addr_width> waddr_i{"waddr_i"};
  In<width> wdata_i{"wdata_i"};
  In<1> re_i{"re_i"};
  In<addr_width> raddr_i{"raddr_i"};
  Out<width> rdata_o{"rdata_o"};

  SC_HAS_PROCESS(Ram);
  explicit Ram(sc_core::sc_module_name name) : sc_core::sc_module(name) {
    SC_METHOD(edge);
    sensitive << clk_i.pos();
    dont_initialize();
  }

 private:
  void edge() {
    core_.step(we_i ? &wdata_i.read() : nullptr, waddr_i.read(), re_i, raddr_i.read());
    rdata_o = core_.rdata();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
