// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_fp8 with cuts: ports and latency of rtl/quant/ng_quantize_fp8.sv.
#pragma once

#include <array>

#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/quantize_fp8.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int lanes>
using Fp8Codes = std::array<std::uint8_t, static_cast<std::size_t>(lanes)>;

template <int lanes, unsigned set, int random_bits, bool tiny_scales, int cuts,
          class Core = CutPipeCore<cuts, Fp8Codes<lanes>>>
class QuantizeFp8 : public CutPipe<Core, Fp8Codes<lanes>> {
 public:
  sc_core::sc_in<Port<16 * lanes>> a_i{"a_i"};
  sc_core::sc_in<Port<8>> scale_i{"scale_i"};
  sc_core::sc_in<bool> fmt_i{"fmt_i"}, stochastic_i{"stochastic_i"};
  sc_core::sc_in<Port<random_bits * lanes>> rand_i{"rand_i"};
  sc_core::sc_out<Port<8 * lanes>> codes_o{"codes_o"};

  using CutPipe<Core, Fp8Codes<lanes>>::CutPipe;

 private:
  Fp8Codes<lanes> value() const override {
    const Format format = set == format_set::e4m3 || (set == format_set::fp8 && !fmt_i) ? Format::e4m3 : Format::e5m2;
    const auto x = fields_of<lanes, 16>(a_i);
    const auto random = fields_of<lanes, random_bits>(rand_i);
    Fp8Codes<lanes> codes;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = quantize_fp8(x[i], static_cast<std::uint8_t>(scale_i.read()), format, stochastic_i, random[i],
                              random_bits, tiny_scales);
    }
    return codes;
  }
  void drive(const Fp8Codes<lanes>& codes) override { codes_o = port_of_fields<8>(codes); }
};

}  // namespace narrowgauge::systemc
