// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fifo2: ports, latency and back-pressure of rtl/prim/ng_fifo2.sv.
#pragma once

#include "systemc/prim/fifo2_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int width, class Core = Fifo2Core<Port<width>>>
struct Fifo2 : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static_assert(width >= 1, "Fifo2: width must be 1 or more");

  In<width> data_i{"data_i"};
  Out<width> data_o{"data_o"};

 private:
  void step(Core& core) override { core.step(valid_i ? &data_i.read() : nullptr, ready_i); }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.data();
  }
};

}  // namespace narrowgauge::systemc
