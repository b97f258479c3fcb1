// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fp8_lane with cuts: ports and latency of rtl/mac/ng_fp8_lane.sv.
#pragma once

#include "narrowgauge/mac/dot_fp8.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

/// A product, and whether the term lacks 1 for it.
struct Fp8LaneValue {
  Fp8Sum sum;
  bool owed = false;
};

template <unsigned set, bool owe, int cuts, class Core = CutPipeCore<cuts, Fp8LaneValue>>
struct Fp8Lane : CutPipe<Core, Fp8LaneValue> {
  using CutPipe<Core, Fp8LaneValue>::CutPipe;
  static constexpr bool e4m3_alone = set == format_set::e4m3;
  static constexpr int term_width = e4m3_alone ? 37 : 65;
  In<8> a_i{"a_i"}, b_i{"b_i"};
  In<1> a_fmt_i{"a_fmt_i"}, b_fmt_i{"b_fmt_i"};
  Out<term_width> term_o{"term_o"};
  Out<1> owed_o{"owed_o"}, nan_o{"nan_o"}, pinf_o{"pinf_o"}, ninf_o{"ninf_o"};

 private:
  Fp8LaneValue value() const override {
    const auto format = [](bool e5m2) {
      return e4m3_alone || (set == format_set::fp8 && !e5m2) ? Format::e4m3 : Format::e5m2;
    };
    const auto a = a_i.value(), b = b_i.value();
    return {fp8_product(a, b, format(a_fmt_i), format(b_fmt_i), e4m3_alone ? fp8_lsb_exp_e4m3 : fp8_lsb_exp),
            owe && ((a ^ b) & 0x80) != 0};
  }
  void drive(const Fp8LaneValue& product) override {
    term_o = product.sum.value - product.owed;
    owed_o = product.owed;
    nan_o = product.sum.flags.nan;
    pinf_o = product.sum.flags.pinf;
    ninf_o = product.sum.flags.ninf;
  }
};

}  // namespace narrowgauge::systemc
