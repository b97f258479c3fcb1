// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fp_mac: ports and latency of rtl/mac/ng_fp_mac.sv.
#pragma once

#include "systemc/mac/fp_mac_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <Format format, class Core = FpMacCore<format>>
struct FpMac : Shell<Core> {
  using Shell<Core>::Shell;
  static constexpr int width = desc(format).bits;
  In<1> valid_i{"valid_i"}, first_i{"first_i"};
  In<width> a_i{"a_i"}, b_i{"b_i"};
  Out<32> acc_o{"acc_o"};

 private:
  void step(Core& core) override { core.step(valid_i, first_i, a_i, b_i); }
  void drive(const Core& core) override { acc_o = core.acc(); }
};

}  // namespace narrowgauge::systemc
