// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_div_fp32: ports, latency and back-pressure of rtl/mac/ng_div_fp32.sv. y_o is 0 where valid_o is
// low; the RTL's has no meaning then.
#pragma once

#include "systemc/mac/div_fp32_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <bool saturate, class Core = DivFp32Core<saturate>>
struct DivFp32 : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<32> a_i{"a_i"}, b_i{"b_i"};
  Out<32> y_o{"y_o"};

 private:
  void step(Core& core) override { core.step(valid_i, a_i.read(), b_i.read(), ready_i); }
  void drive(const Core& core) override {
    handshake(core);
    y_o = core.y();
  }
};

}  // namespace narrowgauge::systemc
