// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_row_max: ports, latency and back-pressure of rtl/softmax/ng_row_max.sv. max_o is 0 where any_o
// is low; the RTL's has no meaning then.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/softmax/row_max_core.hpp"

namespace narrowgauge::systemc {

/// cuts: `TreeCuts` of the RTL.
template <int width, unsigned cuts, class Core = RowMaxCore<cuts>>
struct RowMax : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  In<16 * width> keys_i{"keys_i"};
  In<16> mask_i{"mask_i"};
  In<1> first_i{"first_i"}, last_i{"last_i"};
  Out<width> max_o{"max_o"};
  Out<1> any_o{"any_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, fields<16, std::uint32_t>(keys_i), mask_i.read(), first_i, last_i, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    max_o = core.max();
    any_o = core.any();
  }
};

}  // namespace narrowgauge::systemc
