// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_unsigned_mac: ports and latency of rtl/pann/ng_unsigned_mac.sv.
#pragma once

#include "systemc/pann/unsigned_mac_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int x_width, int w_width, int acc_width, int schedule, class Core = UnsignedMacCore<acc_width, schedule == 0>>
struct UnsignedMac : Shell<Core> {
  using Shell<Core>::Shell;
  static_assert(acc_width >= x_width + w_width, "UnsignedMac: acc_width must hold a product");
  static_assert(schedule >= 0 && schedule <= 2, "UnsignedMac: schedule must be 0 (sorted), 1 (dual) or 2 (muxed)");

  In<1> valid_i{"valid_i"}, first_i{"first_i"}, last_i{"last_i"};
  In<x_width> x_i{"x_i"};
  In<w_width> w_i{"w_i"};
  In<1> negative_i{"negative_i"};
  Out<1> valid_o{"valid_o"};
  Out<acc_width> result_o{"result_o"};

 private:
  void step(Core& core) override { core.step(valid_i, first_i, last_i, x_i.words()[0], w_i.words()[0], negative_i); }
  void drive(const Core& core) override {
    valid_o = core.valid();
    result_o = core.result();
  }
};

}  // namespace narrowgauge::systemc
