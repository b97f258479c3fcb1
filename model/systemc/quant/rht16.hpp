// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_rht16 with cuts: ports and latency of rtl/quant/ng_rht16.sv.
#pragma once

#include "narrowgauge/quant/rht16.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int window, int cuts, class Core = CutPipeCore<cuts, Rht16Result>>
class Rht16 : public CutPipe<Core, Rht16Result> {
 public:
  sc_core::sc_in<Port<256>> x_i{"x_i"};
  sc_core::sc_out<Port<256>> y_o{"y_o"};
  sc_core::sc_out<bool> exact_o{"exact_o"};

  using CutPipe<Core, Rht16Result>::CutPipe;

 private:
  Rht16Result value() const override { return rht16(fields_of<16, 16>(x_i), window); }
  void drive(const Rht16Result& result) override {
    y_o = port_of_fields<16>(result.y);
    exact_o = result.exact;
  }
};

}  // namespace narrowgauge::systemc
