// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_nvfp4 with cuts: ports and latency of rtl/quant/ng_quantize_nvfp4.sv.
#pragma once

#include <bit>

#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int cuts, bool tiny_scales = true, class Core = CutPipeCore<cuts, Nvfp4Block>>
struct QuantizeNvfp4 : CutPipe<Core, Nvfp4Block> {
  using CutPipe<Core, Nvfp4Block>::CutPipe;
  In<256> a_i{"a_i"};
  In<32> tensor_scale_i{"tensor_scale_i"};
  Out<64> codes_o{"codes_o"};
  Out<8> scale_o{"scale_o"};

 private:
  Nvfp4Block value() const override {
    return quantize_nvfp4(fields<16>(a_i), std::bit_cast<float>(tensor_scale_i.read()), tiny_scales);
  }
  void drive(const Nvfp4Block& block) override {
    codes_o = block.codes;
    scale_o = block.scale;
  }
};

}  // namespace narrowgauge::systemc
