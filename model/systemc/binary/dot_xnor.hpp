// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_xnor: ports, latency and back-pressure of rtl/binary/ng_dot_xnor.sv.
#pragma once

#include "systemc/binary/dot_xnor_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int n, bool planes, class Core = DotXnorCore<n, planes>>
struct DotXnor : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  In<n> x_i{"x_i"}, w_i{"w_i"}, mask_i{"mask_i"};
  In<1> first_i{"first_i"}, last_i{"last_i"};
  In<16> threshold_i{"threshold_i"};
  In<1> at_most_i{"at_most_i"};
  Out<16> sum_o{"sum_o"};
  Out<1> bit_o{"bit_o"};

 private:
  void step(Core& core) override {
    const auto words = [](const In<n>& port) { return fields<n / 64>(port); };
    core.step(valid_i, words(x_i), words(w_i), words(mask_i), first_i, last_i,
              static_cast<std::uint16_t>(threshold_i.read()), at_most_i, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    sum_o = core.result().sum;
    bit_o = core.result().bit;
  }
};

}  // namespace narrowgauge::systemc
