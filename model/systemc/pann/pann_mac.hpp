// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_pann_mac: ports, latency and back-pressure of rtl/pann/ng_pann_mac.sv.
#pragma once

#include "systemc/pann/pann_mac_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int x_width, int w_width, int acc_width, class Core = PannMacCore<acc_width>>
struct PannMac : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static_assert(acc_width >= x_width, "PannMac: acc_width must be at least x_width");

  In<1> first_i{"first_i"}, last_i{"last_i"};
  In<x_width> x_i{"x_i"};
  In<w_width> w_i{"w_i"};
  In<1> negative_i{"negative_i"};
  Out<acc_width> result_o{"result_o"};

 private:
  void step(Core& core) override {
    const PannElement element{
        .first = first_i, .last = last_i, .x = x_i.words()[0], .w = w_i.words()[0], .negative = negative_i};
    core.step(valid_i ? &element : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    result_o = core.result();
  }
};

}  // namespace narrowgauge::systemc
