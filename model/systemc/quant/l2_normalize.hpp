// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_l2_normalize: ports, latency and back-pressure of rtl/quant/ng_l2_normalize.sv. y_o and last_o
// are 0 where valid_o is low; the RTL's have no meaning then.
#pragma once

#include "systemc/quant/l2_normalize_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int man_bits, int max_elements, std::uint32_t epsilon = l2_epsilon,
          class Core = L2NormalizeCore<max_elements, epsilon>>
struct L2Normalize : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int bits = 9 + man_bits;

  In<bits> x_i{"x_i"};
  In<1> last_i{"last_i"};
  Out<32> y_o{"y_o"};
  Out<1> last_o{"last_o"}, too_long_o{"too_long_o"};

 private:
  void step(Core& core) override { core.step(valid_i, x_i.value() << (23 - man_bits), last_i, ready_i); }
  void drive(const Core& core) override {
    handshake(core);
    y_o = core.y();
    last_o = core.valid() && core.last();
    too_long_o = core.too_long();
  }
};

}  // namespace narrowgauge::systemc
