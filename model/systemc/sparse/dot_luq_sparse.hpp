// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_luq_sparse with cuts: ports and latency of rtl/sparse/ng_dot_luq_sparse.sv.
#pragma once

#include <bit>

#include "narrowgauge/sparse/select.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes, bool sparse_fp4, int cuts, class Core = CutPipeCore<cuts, SparseLuqDot>>
struct DotLuqSparse : CutPipe<Core, SparseLuqDot> {
  using CutPipe<Core, SparseLuqDot>::CutPipe;
  static constexpr int dot_width = 11 + std::bit_width(static_cast<unsigned>(lanes)) - 1;
  In<4 * lanes> stored_i{"stored_i"};
  In<2 * lanes> metadata_i{"metadata_i"};
  In<8 * lanes> dense_i{"dense_i"};
  Out<dot_width> dot_o{"dot_o"};
  Out<1> error_o{"error_o"};

 private:
  SparseLuqDot value() const override {
    return luq_dot_sparse(fields<lanes>(stored_i), fields<lanes / 2>(metadata_i), fields<2 * lanes>(dense_i),
                          sparse_fp4);
  }
  void drive(const SparseLuqDot& result) override {
    dot_o = result.dot;
    error_o = result.error;
  }
};

}  // namespace narrowgauge::systemc
