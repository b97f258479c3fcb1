// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_scale_nvfp4 with cuts: ports and latency of rtl/mac/ng_scale_nvfp4.sv.
#pragma once

#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int cuts, class Core = CutPipeCore<cuts, Nvfp4Term>>
struct ScaleNvfp4 : CutPipe<Core, Nvfp4Term> {
  using CutPipe<Core, Nvfp4Term>::CutPipe;
  In<13> dot_i{"dot_i"};
  In<8> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  Out<48> term_o{"term_o"};
  Out<1> nan_o{"nan_o"};

 private:
  Nvfp4Term value() const override { return nvfp4_scale(dot_i.number(), a_scale_i.value(), b_scale_i.value()); }
  void drive(const Nvfp4Term& term) override {
    term_o = term.value;
    nan_o = term.nan;
  }
};

}  // namespace narrowgauge::systemc
