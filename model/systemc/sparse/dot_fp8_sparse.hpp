// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_fp8_sparse with cuts: ports and latency of rtl/sparse/ng_dot_fp8_sparse.sv.
#pragma once

#include <bit>

#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/sparse/select.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes, unsigned set, int cuts, class Core = CutPipeCore<cuts, SparseFp8Sum>>
struct DotFp8Sparse : CutPipe<Core, SparseFp8Sum> {
  using CutPipe<Core, SparseFp8Sum>::CutPipe;
  static constexpr bool e4m3_alone = set == format_set::e4m3;
  static constexpr int term_width = (e4m3_alone ? 37 : 65) + std::bit_width(static_cast<unsigned>(lanes - 1));
  In<8 * lanes> stored_i{"stored_i"};
  In<2 * lanes> metadata_i{"metadata_i"};
  In<16 * lanes> dense_i{"dense_i"};
  In<1> stored_fmt_i{"stored_fmt_i"}, dense_fmt_i{"dense_fmt_i"};
  Out<term_width> term_o{"term_o"};
  Out<1> nan_o{"nan_o"}, pinf_o{"pinf_o"}, ninf_o{"ninf_o"}, error_o{"error_o"};

 private:
  SparseFp8Sum value() const override {
    const auto format = [](bool e5m2) {
      return e4m3_alone || (set == format_set::fp8 && !e5m2) ? Format::e4m3 : Format::e5m2;
    };
    return dot_fp8_sparse(fields<lanes>(stored_i), fields<lanes / 2>(metadata_i), fields<2 * lanes>(dense_i),
                          format(stored_fmt_i), format(dense_fmt_i), e4m3_alone ? fp8_lsb_exp_e4m3 : fp8_lsb_exp);
  }
  void drive(const SparseFp8Sum& result) override {
    term_o = result.sum.value;
    nan_o = result.sum.flags.nan;
    pinf_o = result.sum.flags.pinf;
    ninf_o = result.sum.flags.ninf;
    error_o = result.error;
  }
};

}  // namespace narrowgauge::systemc
