// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_nvfp4 with cuts: ports and latency of rtl/quant/ng_quantize_nvfp4.sv.
#pragma once

#include <bit>

#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int cuts, bool tiny_scales = true, class Core = CutPipeCore<cuts, Nvfp4Block>>
class QuantizeNvfp4 : public CutPipe<Core, Nvfp4Block> {
 public:
  sc_core::sc_in<Port<256>> a_i{"a_i"};
  sc_core::sc_in<Port<32>> tensor_scale_i{"tensor_scale_i"};
  sc_core::sc_out<Port<64>> codes_o{"codes_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};

  using CutPipe<Core, Nvfp4Block>::CutPipe;

 private:
  Nvfp4Block value() const override {
    const PortWords<256> words = words_of<256>(a_i);
    std::array<std::uint16_t, 16> x;
    for (std::size_t i = 0; i < 16; ++i) x[i] = static_cast<std::uint16_t>(words[i / 2] >> 16 * (i % 2));
    return quantize_nvfp4(x, std::bit_cast<float>(tensor_scale_i.read()), tiny_scales);
  }
  void drive(const Nvfp4Block& block) override {
    std::uint64_t codes = 0;
    for (std::size_t i = 0; i < 16; ++i) codes |= std::uint64_t{block.codes[i]} << 4 * i;
    codes_o = codes;
    scale_o = block.scale;
  }
};

}  // namespace narrowgauge::systemc
