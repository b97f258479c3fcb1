// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_fp8_sparse with cuts: ports and latency of rtl/sparse/ng_dot_fp8_sparse.sv.
#pragma once

#include <bit>

#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/sparse/select.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int lanes, unsigned set, int cuts, class Core = CutPipeCore<cuts, SparseFp8Sum>>
class DotFp8Sparse : public CutPipe<Core, SparseFp8Sum> {
 public:
  static constexpr bool e4m3_alone = set == format_set::e4m3;
  static constexpr int term_width = (e4m3_alone ? 37 : 65) + std::bit_width(static_cast<unsigned>(lanes - 1));
  sc_core::sc_in<Port<8 * lanes>> stored_i{"stored_i"};
  sc_core::sc_in<Port<2 * lanes>> metadata_i{"metadata_i"};
  sc_core::sc_in<Port<16 * lanes>> dense_i{"dense_i"};
  sc_core::sc_in<bool> stored_fmt_i{"stored_fmt_i"}, dense_fmt_i{"dense_fmt_i"};
  sc_core::sc_out<Port<term_width>> term_o{"term_o"};
  sc_core::sc_out<bool> nan_o{"nan_o"}, pinf_o{"pinf_o"}, ninf_o{"ninf_o"}, error_o{"error_o"};

  using CutPipe<Core, SparseFp8Sum>::CutPipe;

 private:
  SparseFp8Sum value() const override {
    const auto format = [](bool e5m2) {
      return e4m3_alone || (set == format_set::fp8 && !e5m2) ? Format::e4m3 : Format::e5m2;
    };
    return dot_fp8_sparse(fields_of<lanes, 8>(stored_i), fields_of<lanes / 2, 4>(metadata_i),
                          fields_of<2 * lanes, 8>(dense_i), format(stored_fmt_i), format(dense_fmt_i),
                          e4m3_alone ? fp8_lsb_exp_e4m3 : fp8_lsb_exp);
  }
  void drive(const SparseFp8Sum& result) override {
    term_o = port_of_signed<term_width>(result.sum.value);
    nan_o = result.sum.flags.nan;
    pinf_o = result.sum.flags.pinf;
    ninf_o = result.sum.flags.ninf;
    error_o = result.error;
  }
};

}  // namespace narrowgauge::systemc
