// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_nvfp4_sparse with cuts: ports and latency of rtl/sparse/ng_dot_nvfp4_sparse.sv.
#pragma once

#include "narrowgauge/sparse/dot_nvfp4_sparse.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <bool pairs, int cuts, class Core = CutPipeCore<cuts, SparseNvfp4Term>>
struct DotNvfp4Sparse : CutPipe<Core, SparseNvfp4Term> {
  using CutPipe<Core, SparseNvfp4Term>::CutPipe;
  static constexpr int metadata_width = pairs ? 16 : 32;
  In<64> a_i{"a_i"};
  In<metadata_width> metadata_i{"metadata_i"};
  In<128> b_i{"b_i"};
  In<8> a_scale_i{"a_scale_i"}, b_scale_i{"b_scale_i"};
  Out<48> term_o{"term_o"};
  Out<1> nan_o{"nan_o"}, error_o{"error_o"};

 private:
  SparseNvfp4Term value() const override {
    const auto a = fields<16>(a_i);
    const auto b = fields<32>(b_i);
    return nvfp4_sparse_term(a, metadata_i.value(), b, a_scale_i.value(), b_scale_i.value(), pairs);
  }
  void drive(const SparseNvfp4Term& result) override {
    term_o = result.term.value;
    nan_o = result.term.nan;
    error_o = result.error;
  }
};

}  // namespace narrowgauge::systemc
