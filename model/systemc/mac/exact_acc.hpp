// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_exact_acc: ports and latency of rtl/mac/ng_exact_acc.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/mac/exact_acc_core.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int term_width, int acc_width, int split = 0, class Core = ExactAccCore<acc_width, (split > 0)>>
class ExactAcc : public Clocked {
  static_assert(term_width >= 2, "ExactAcc: term_width must be 2 or more");
  static_assert(acc_width >= term_width, "ExactAcc: acc_width must be at least term_width");
  static_assert(split >= 0 && split < term_width, "ExactAcc: split must be 0 to term_width - 1");

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"}, first_i{"first_i"};
  sc_core::sc_in<Port<term_width>> term_i{"term_i"};
  sc_core::sc_in<bool> nan_i{"nan_i"}, pinf_i{"pinf_i"}, ninf_i{"ninf_i"};
  sc_core::sc_out<Port<acc_width>> acc_o{"acc_o"};
  sc_core::sc_out<bool> nan_o{"nan_o"}, pinf_o{"pinf_o"}, ninf_o{"ninf_o"};

  explicit ExactAcc(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    core_.step(valid_i, first_i, static_cast<typename Core::Value>(signed_of<term_width>(term_i)),
               {.nan = nan_i, .pinf = pinf_i, .ninf = ninf_i});
  }
  void drive() override {
    acc_o = port_of_signed<acc_width>(core_.acc());
    nan_o = core_.flags().nan;
    pinf_o = core_.flags().pinf;
    ninf_o = core_.flags().ninf;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
