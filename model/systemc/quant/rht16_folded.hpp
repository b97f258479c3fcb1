// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_rht16_folded: ports, latency and back-pressure of rtl/quant/ng_rht16_folded.sv.
#pragma once

#include "systemc/quant/rht16_folded_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int lanes, int window, class Core = Rht16FoldedCore<lanes, window>>
struct Rht16Folded : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int bits = 16 * lanes;

  In<bits> x_i{"x_i"};
  Out<bits> y_o{"y_o"};
  Out<1> exact_o{"exact_o"};

 private:
  void step(Core& core) override {
    const auto beat = fields<lanes>(x_i);
    core.step(valid_i ? &beat : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    y_o = core.beat();
    exact_o = core.exact();
  }
};

}  // namespace narrowgauge::systemc
