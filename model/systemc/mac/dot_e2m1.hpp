// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_e2m1 with cuts: ports and latency of rtl/mac/ng_dot_e2m1.sv.
#pragma once

#include <bit>

#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes, int cuts, class Core = CutPipeCore<cuts, int>>
struct DotE2m1 : CutPipe<Core, int> {
  using CutPipe<Core, int>::CutPipe;
  static constexpr int dot_width = 9 + std::bit_width(static_cast<unsigned>(lanes)) - 1;
  In<4 * lanes> a_i{"a_i"}, b_i{"b_i"};
  Out<dot_width> dot_o{"dot_o"};

 private:
  int value() const override { return e2m1_dot(fields<lanes>(a_i), fields<lanes>(b_i)); }
  void drive(const int& dot) override { dot_o = dot; }
};

}  // namespace narrowgauge::systemc
