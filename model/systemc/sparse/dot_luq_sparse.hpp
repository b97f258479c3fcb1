// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_luq_sparse with cuts: ports and latency of rtl/sparse/ng_dot_luq_sparse.sv.
#pragma once

#include <bit>

#include "narrowgauge/sparse/select.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int lanes, bool sparse_fp4, int cuts, class Core = CutPipeCore<cuts, SparseLuqDot>>
class DotLuqSparse : public CutPipe<Core, SparseLuqDot> {
 public:
  static constexpr int dot_width = 11 + std::bit_width(static_cast<unsigned>(lanes)) - 1;
  sc_core::sc_in<Port<4 * lanes>> stored_i{"stored_i"};
  sc_core::sc_in<Port<2 * lanes>> metadata_i{"metadata_i"};
  sc_core::sc_in<Port<8 * lanes>> dense_i{"dense_i"};
  sc_core::sc_out<Port<dot_width>> dot_o{"dot_o"};
  sc_core::sc_out<bool> error_o{"error_o"};

  using CutPipe<Core, SparseLuqDot>::CutPipe;

 private:
  SparseLuqDot value() const override {
    return luq_dot_sparse(fields_of<lanes, 4>(stored_i), fields_of<lanes / 2, 4>(metadata_i),
                          fields_of<2 * lanes, 4>(dense_i), sparse_fp4);
  }
  void drive(const SparseLuqDot& result) override {
    dot_o = port_of_signed<dot_width>(result.dot);
    error_o = result.error;
  }
};

}  // namespace narrowgauge::systemc
