// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_nvfp4_sr with cuts: ports and latency of rtl/quant/ng_quantize_nvfp4_sr.sv.
#pragma once

#include <algorithm>
#include <bit>

#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int cuts, int random_bits, class Core = CutPipeCore<cuts, Nvfp4Block>>
class QuantizeNvfp4Sr : public CutPipe<Core, Nvfp4Block> {
 public:
  sc_core::sc_in<Port<256>> a_i{"a_i"};
  sc_core::sc_in<Port<32>> tensor_scale_i{"tensor_scale_i"};
  sc_core::sc_in<bool> stochastic_i{"stochastic_i"};
  sc_core::sc_in<Port<16 * random_bits>> rand_i{"rand_i"};
  sc_core::sc_out<Port<64>> codes_o{"codes_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};

  using CutPipe<Core, Nvfp4Block>::CutPipe;

 private:
  Nvfp4Block value() const override {
    Nvfp4Random random{.bits = random_bits};
    std::ranges::copy(fields_of<16, random_bits>(rand_i), random.words.begin());
    return quantize_nvfp4(fields_of<16, 16>(a_i), std::bit_cast<float>(tensor_scale_i.read()), false,
                          stochastic_i ? &random : nullptr);
  }
  void drive(const Nvfp4Block& block) override {
    codes_o = port_of_fields<4>(block.codes);
    scale_o = block.scale;
  }
};

}  // namespace narrowgauge::systemc
