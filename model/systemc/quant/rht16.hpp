// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_rht16 with cuts: ports and latency of rtl/quant/ng_rht16.sv.
#pragma once

#include "narrowgauge/quant/rht16.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int window, int cuts, class Core = CutPipeCore<cuts, Rht16Result>>
struct Rht16 : CutPipe<Core, Rht16Result> {
  using CutPipe<Core, Rht16Result>::CutPipe;
  In<256> x_i{"x_i"};
  Out<256> y_o{"y_o"};
  Out<1> exact_o{"exact_o"};

 private:
  Rht16Result value() const override { return rht16(fields<16>(x_i), window); }
  void drive(const Rht16Result& result) override {
    y_o = result.y;
    exact_o = result.exact;
  }
};

}  // namespace narrowgauge::systemc
