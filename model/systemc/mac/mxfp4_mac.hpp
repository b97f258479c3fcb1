// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_mxfp4_mac: ports and latency of rtl/mac/ng_mxfp4_mac.sv.
#pragma once

#include "systemc/mac/mxfp4_mac_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <class Core = Mxfp4MacCore<>>
struct Mxfp4Mac : Shell<Core> {
  using Shell<Core>::Shell;
  In<1> valid_i{"valid_i"}, first_i{"first_i"};
  In<128> a_i{"a_i"}, b_i{"b_i"};
  In<8> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  Out<32> acc_o{"acc_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, first_i, fields<32>(a_i), fields<32>(b_i), a_scale_i.value(), b_scale_i.value());
  }
  void drive(const Core& core) override { acc_o = core.acc(); }
};

}  // namespace narrowgauge::systemc
