// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_nvfp4_mac: ports and latency of rtl/mac/ng_nvfp4_mac.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/mac/nvfp4_mac_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int acc_width, int dot_cuts = 0, int split = 0, class Core = Nvfp4MacCore<acc_width, dot_cuts, (split > 0)>>
class Nvfp4Mac : public Clocked {
  static_assert(acc_width >= 48, "Nvfp4Mac: acc_width must be 48 or more");
  static_assert(dot_cuts >= 0 && dot_cuts <= 31, "Nvfp4Mac: dot_cuts must be 0 to 31");
  static_assert(split >= 0 && split <= 47, "Nvfp4Mac: split must be 0 to 47");

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"}, first_i{"first_i"};
  sc_core::sc_in<Port<64>> a_i{"a_i"}, b_i{"b_i"};
  sc_core::sc_in<Port<8>> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  sc_core::sc_out<Port<acc_width>> acc_o{"acc_o"};
  sc_core::sc_out<bool> nan_o{"nan_o"};

  explicit Nvfp4Mac(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    core_.step(valid_i, first_i,
               nvfp4_term(fields_of<16, 4>(a_i), fields_of<16, 4>(b_i), static_cast<std::uint8_t>(a_scale_i.read()),
                          static_cast<std::uint8_t>(b_scale_i.read())));
  }
  void drive() override {
    acc_o = port_of_signed<acc_width>(core_.acc());
    nan_o = core_.nan();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
