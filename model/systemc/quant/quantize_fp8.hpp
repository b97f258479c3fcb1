// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_fp8 with cuts: ports and latency of rtl/quant/ng_quantize_fp8.sv.
#pragma once

#include <array>

#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/quantize_fp8.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes>
using Fp8Codes = std::array<std::uint8_t, static_cast<std::size_t>(lanes)>;

template <int lanes, unsigned set, int random_bits, bool tiny_scales, int cuts,
          class Core = CutPipeCore<cuts, Fp8Codes<lanes>>>
struct QuantizeFp8 : CutPipe<Core, Fp8Codes<lanes>> {
  using CutPipe<Core, Fp8Codes<lanes>>::CutPipe;
  In<16 * lanes> a_i{"a_i"};
  In<8> scale_i{"scale_i"};
  In<1> fmt_i{"fmt_i"}, stochastic_i{"stochastic_i"};
  In<random_bits * lanes> rand_i{"rand_i"};
  Out<8 * lanes> codes_o{"codes_o"};

 private:
  Fp8Codes<lanes> value() const override {
    const Format format = set == format_set::e4m3 || (set == format_set::fp8 && !fmt_i) ? Format::e4m3 : Format::e5m2;
    const auto x = fields<lanes>(a_i);
    const auto random = fields<lanes>(rand_i);
    Fp8Codes<lanes> codes;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = quantize_fp8(x[i], scale_i.value(), format, stochastic_i, random[i], random_bits, tiny_scales);
    }
    return codes;
  }
  void drive(const Fp8Codes<lanes>& codes) override { codes_o = codes; }
};

}  // namespace narrowgauge::systemc
