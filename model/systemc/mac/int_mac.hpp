// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_int_mac: ports and latency of rtl/mac/ng_int_mac.sv.
#pragma once

#include <cstdint>

#include "systemc/mac/int_mac_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <IntMacParams params, class Core = IntMacCore<params>>
struct IntMac : Shell<Core> {
  using Shell<Core>::Shell;
  static constexpr int a_width = params.lanes * params.a.width, b_width = params.lanes * params.b.width;
  In<1> valid_i{"valid_i"}, first_i{"first_i"};
  In<a_width> a_i{"a_i"};
  In<b_width> b_i{"b_i"};
  Out<params.acc_width> acc_o{"acc_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, first_i, fields<params.lanes, std::uint16_t>(a_i), fields<params.lanes, std::uint16_t>(b_i));
  }
  void drive(const Core& core) override { acc_o = core.acc(); }
};

}  // namespace narrowgauge::systemc
