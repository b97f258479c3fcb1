// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_mx with cuts: ports and latency of rtl/quant/ng_quantize_mx.sv.
#pragma once

#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/quantize_mx.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <unsigned set, bool rceil, int cuts, class Core = CutPipeCore<cuts, MxBlock>>
class QuantizeMx : public CutPipe<Core, MxBlock> {
 public:
  static constexpr int bits = set == 0 ? 4 : 8;
  sc_core::sc_in<Port<512>> a_i{"a_i"};
  sc_core::sc_in<bool> fmt_i{"fmt_i"}, stochastic_i{"stochastic_i"};
  sc_core::sc_in<Port<256>> rand_i{"rand_i"};
  sc_core::sc_out<Port<32 * bits>> codes_o{"codes_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};

  using CutPipe<Core, MxBlock>::CutPipe;

 private:
  MxBlock value() const override {
    const Format format = set == 0                                                        ? Format::e2m1
                          : set == format_set::e4m3 || (set == format_set::fp8 && !fmt_i) ? Format::e4m3
                                                                                          : Format::e5m2;
    return quantize_mx(fields_of<32, 16>(a_i), format, rceil, stochastic_i, fields_of<32, 8>(rand_i));
  }
  void drive(const MxBlock& block) override {
    codes_o = port_of_fields<bits>(block.codes);
    scale_o = block.scale;
  }
};

}  // namespace narrowgauge::systemc
