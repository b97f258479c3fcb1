// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_fp8 with cuts: ports and latency of rtl/mac/ng_dot_fp8.sv.
#pragma once

#include <bit>

#include "narrowgauge/mac/dot_fp8.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes, unsigned set, int cuts, class Core = CutPipeCore<cuts, Fp8Sum>>
struct DotFp8 : CutPipe<Core, Fp8Sum> {
  using CutPipe<Core, Fp8Sum>::CutPipe;
  static constexpr bool e4m3_alone = set == format_set::e4m3;
  static constexpr int term_width = (e4m3_alone ? 37 : 65) + std::bit_width(static_cast<unsigned>(lanes - 1));
  In<8 * lanes> a_i{"a_i"}, b_i{"b_i"};
  In<1> a_fmt_i{"a_fmt_i"}, b_fmt_i{"b_fmt_i"};
  Out<term_width> term_o{"term_o"};
  Out<1> nan_o{"nan_o"}, pinf_o{"pinf_o"}, ninf_o{"ninf_o"};

 private:
  Fp8Sum value() const override {
    const auto format = [](bool e5m2) {
      return e4m3_alone || (set == format_set::fp8 && !e5m2) ? Format::e4m3 : Format::e5m2;
    };
    return dot_fp8(fields<lanes>(a_i), fields<lanes>(b_i), format(a_fmt_i), format(b_fmt_i),
                   e4m3_alone ? fp8_lsb_exp_e4m3 : fp8_lsb_exp);
  }
  void drive(const Fp8Sum& sum) override {
    term_o = sum.value;
    nan_o = sum.flags.nan;
    pinf_o = sum.flags.pinf;
    ninf_o = sum.flags.ninf;
  }
};

}  // namespace narrowgauge::systemc
