// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_nvfp4 with cuts: ports and latency of rtl/mac/ng_dot_nvfp4.sv.
#pragma once

#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int cuts, class Core = CutPipeCore<cuts, Nvfp4Term>>
class DotNvfp4 : public CutPipe<Core, Nvfp4Term> {
 public:
  sc_core::sc_in<Port<64>> a_i{"a_i"}, b_i{"b_i"};
  sc_core::sc_in<Port<8>> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  sc_core::sc_out<Port<48>> term_o{"term_o"};
  sc_core::sc_out<bool> nan_o{"nan_o"};

  using CutPipe<Core, Nvfp4Term>::CutPipe;

 private:
  Nvfp4Term value() const override {
    return nvfp4_term(fields_of<16, 4>(a_i), fields_of<16, 4>(b_i), static_cast<std::uint8_t>(a_scale_i.read()),
                      static_cast<std::uint8_t>(b_scale_i.read()));
  }
  void drive(const Nvfp4Term& term) override {
    term_o = port_of_signed<48>(term.value);
    nan_o = term.nan;
  }
};

}  // namespace narrowgauge::systemc
