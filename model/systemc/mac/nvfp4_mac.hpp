// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_nvfp4_mac: ports and latency of rtl/mac/ng_nvfp4_mac.sv.
#pragma once

#include "systemc/mac/nvfp4_mac_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int acc_width, int dot_cuts = 0, int split = 0, class Core = Nvfp4MacCore<acc_width, dot_cuts, (split > 0)>>
struct Nvfp4Mac : Shell<Core> {
  using Shell<Core>::Shell;
  static_assert(acc_width >= 48, "Nvfp4Mac: acc_width must be 48 or more");
  static_assert(dot_cuts >= 0 && dot_cuts <= 31, "Nvfp4Mac: dot_cuts must be 0 to 31");
  static_assert(split >= 0 && split <= 47, "Nvfp4Mac: split must be 0 to 47");

  In<1> valid_i{"valid_i"}, first_i{"first_i"};
  In<64> a_i{"a_i"}, b_i{"b_i"};
  In<8> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  Out<acc_width> acc_o{"acc_o"};
  Out<1> nan_o{"nan_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, first_i, nvfp4_term(fields<16>(a_i), fields<16>(b_i), a_scale_i.value(), b_scale_i.value()));
  }
  void drive(const Core& core) override {
    acc_o = core.acc();
    nan_o = core.nan();
  }
};

}  // namespace narrowgauge::systemc
