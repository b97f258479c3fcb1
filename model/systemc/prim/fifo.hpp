// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fifo: ports, latency and back-pressure of rtl/prim/ng_fifo.sv.
#pragma once

#include <bit>

#include "systemc/prim/fifo_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int width, int depth, bool block_ram = false, class Core = FifoCore<Port<width>, depth, block_ram>>
struct Fifo : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static_assert(width >= 1, "Fifo: width must be 1 or more");
  static constexpr int space_width = std::bit_width(static_cast<unsigned>(depth));

  In<1> flush_i{"flush_i"};
  In<width> data_i{"data_i"};
  Out<width> data_o{"data_o"};
  Out<space_width> space_o{"space_o"};

 private:
  void step(Core& core) override { core.step(valid_i ? &data_i.read() : nullptr, ready_i, flush_i); }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.data();
    space_o = core.space();
  }
};

}  // namespace narrowgauge::systemc
