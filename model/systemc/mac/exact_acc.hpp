// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_exact_acc: ports and latency of rtl/mac/ng_exact_acc.sv.
#pragma once

#include "systemc/mac/exact_acc_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int term_width, int acc_width, int split = 0, class Core = ExactAccCore<acc_width, (split > 0)>>
struct ExactAcc : Shell<Core> {
  using Shell<Core>::Shell;
  static_assert(term_width >= 2, "ExactAcc: term_width must be 2 or more");
  static_assert(acc_width >= term_width, "ExactAcc: acc_width must be at least term_width");
  static_assert(split >= 0 && split < term_width, "ExactAcc: split must be 0 to term_width - 1");

  In<1> valid_i{"valid_i"}, first_i{"first_i"};
  In<term_width> term_i{"term_i"};
  In<1> nan_i{"nan_i"}, pinf_i{"pinf_i"}, ninf_i{"ninf_i"};
  Out<acc_width> acc_o{"acc_o"};
  Out<1> nan_o{"nan_o"}, pinf_o{"pinf_o"}, ninf_o{"ninf_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, first_i, static_cast<typename Core::Value>(term_i.number()),
              {.nan = nan_i, .pinf = pinf_i, .ninf = ninf_i});
  }
  void drive(const Core& core) override {
    acc_o = core.acc();
    nan_o = core.flags().nan;
    pinf_o = core.flags().pinf;
    ninf_o = core.flags().ninf;
  }
};

}  // namespace narrowgauge::systemc
