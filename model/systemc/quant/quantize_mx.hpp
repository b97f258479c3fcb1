// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_mx with cuts: ports and latency of rtl/quant/ng_quantize_mx.sv.
#pragma once

#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/quantize_mx.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <unsigned set, bool rceil, int cuts, class Core = CutPipeCore<cuts, MxBlock>>
struct QuantizeMx : CutPipe<Core, MxBlock> {
  using CutPipe<Core, MxBlock>::CutPipe;
  static constexpr int bits = set == 0 ? 4 : 8;
  In<512> a_i{"a_i"};
  In<1> fmt_i{"fmt_i"}, stochastic_i{"stochastic_i"};
  In<256> rand_i{"rand_i"};
  Out<32 * bits> codes_o{"codes_o"};
  Out<8> scale_o{"scale_o"};

 private:
  MxBlock value() const override {
    const Format format = set == 0                                                        ? Format::e2m1
                          : set == format_set::e4m3 || (set == format_set::fp8 && !fmt_i) ? Format::e4m3
                                                                                          : Format::e5m2;
    return quantize_mx(fields<32>(a_i), format, rceil, stochastic_i, fields<32>(rand_i));
  }
  void drive(const MxBlock& block) override {
    codes_o = block.codes;
    scale_o = block.scale;
  }
};

}  // namespace narrowgauge::systemc
