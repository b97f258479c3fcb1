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
  Rht16Result value() const override {
    const PortWords<256> words = words_of<256>(x_i);
    Rht16Block x;
    for (std::size_t r = 0; r < x.size(); ++r) x[r] = static_cast<std::uint16_t>(words[r / 2] >> r % 2 * 16);
    return rht16(x, window);
  }
  void drive(const Rht16Result& result) override {
    PortWords<256> words{};
    for (std::size_t c = 0; c < result.y.size(); ++c) words[c / 2] |= std::uint32_t{result.y[c]} << c % 2 * 16;
    y_o = port_of<256>(words);
    exact_o = result.exact;
  }
};

}  // namespace narrowgauge::systemc
