// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_4over6 with cuts: ports and latency of rtl/quant/ng_quantize_4over6.sv.
#pragma once

#include <bit>

#include "narrowgauge/quant/quantize_4over6.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int cuts, class Core = CutPipeCore<cuts, Nvfp4Block>>
class Quantize4over6 : public CutPipe<Core, Nvfp4Block> {
 public:
  sc_core::sc_in<Port<256>> a_i{"a_i"};
  sc_core::sc_in<Port<32>> tensor_scale_i{"tensor_scale_i"};
  sc_core::sc_out<Port<64>> codes_o{"codes_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};

  using CutPipe<Core, Nvfp4Block>::CutPipe;

 private:
  Nvfp4Block value() const override {
    return quantize_4over6(fields_of<16, 16>(a_i), std::bit_cast<float>(tensor_scale_i.read()));
  }
  void drive(const Nvfp4Block& block) override {
    codes_o = port_of_fields<4>(block.codes);
    scale_o = block.scale;
  }
};

}  // namespace narrowgauge::systemc
