// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_mxfp4 with cuts: ports and latency of rtl/quant/ng_quantize_mxfp4.sv.
#pragma once

#include "narrowgauge/quant/quantize_mxfp4.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int cuts, bool rceil = false, class Core = CutPipeCore<cuts, Mxfp4Block>>
class QuantizeMxfp4 : public CutPipe<Core, Mxfp4Block> {
 public:
  sc_core::sc_in<Port<512>> a_i{"a_i"};
  sc_core::sc_in<bool> stochastic_i{"stochastic_i"};
  sc_core::sc_in<Port<256>> rand_i{"rand_i"};
  sc_core::sc_out<Port<128>> codes_o{"codes_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};

  using CutPipe<Core, Mxfp4Block>::CutPipe;

 private:
  Mxfp4Block value() const override {
    return quantize_mxfp4(fields_of<32, 16>(a_i), rceil, stochastic_i, fields_of<32, 8>(rand_i));
  }
  void drive(const Mxfp4Block& block) override {
    codes_o = port_of_fields<4>(block.codes);
    scale_o = block.scale;
  }
};

}  // namespace narrowgauge::systemc
