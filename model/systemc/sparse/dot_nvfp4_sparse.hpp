// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_nvfp4_sparse with cuts: ports and latency of rtl/sparse/ng_dot_nvfp4_sparse.sv.
#pragma once

#include "narrowgauge/sparse/dot_nvfp4_sparse.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <bool pairs, int cuts, class Core = CutPipeCore<cuts, SparseNvfp4Term>>
class DotNvfp4Sparse : public CutPipe<Core, SparseNvfp4Term> {
 public:
  static constexpr int metadata_width = pairs ? 16 : 32;
  sc_core::sc_in<Port<64>> a_i{"a_i"};
  sc_core::sc_in<Port<metadata_width>> metadata_i{"metadata_i"};
  sc_core::sc_in<Port<128>> b_i{"b_i"};
  sc_core::sc_in<Port<8>> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  sc_core::sc_out<Port<48>> term_o{"term_o"};
  sc_core::sc_out<bool> nan_o{"nan_o"}, error_o{"error_o"};

  using CutPipe<Core, SparseNvfp4Term>::CutPipe;

 private:
  SparseNvfp4Term value() const override {
    const auto a = fields_of<16, 4>(a_i);
    const auto b = fields_of<32, 4>(b_i);
    return nvfp4_sparse_term(a, static_cast<std::uint32_t>(metadata_i.read()), b,
                             static_cast<std::uint8_t>(a_scale_i.read()), static_cast<std::uint8_t>(b_scale_i.read()),
                             pairs);
  }
  void drive(const SparseNvfp4Term& result) override {
    term_o = port_of_signed<48>(result.term.value);
    nan_o = result.term.nan;
    error_o = result.error;
  }
};

}  // namespace narrowgauge::systemc
