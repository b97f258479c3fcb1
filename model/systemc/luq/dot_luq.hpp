// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_luq with cuts: ports and latency of rtl/luq/ng_dot_luq.sv.
#pragma once

#include <bit>

#include "narrowgauge/luq/mul_luq.hpp"
#include "systemc/cut_pipe.hpp"

namespace narrowgauge::systemc {

template <int lanes, int cuts, class Core = CutPipeCore<cuts, int>>
struct DotLuq : CutPipe<Core, int> {
  using CutPipe<Core, int>::CutPipe;
  static constexpr int dot_width = 11 + std::bit_width(static_cast<unsigned>(lanes)) - 1;
  In<4 * lanes> a_i{"a_i"}, b_i{"b_i"};
  Out<dot_width> dot_o{"dot_o"};

 private:
  int value() const override { return luq_dot(fields<lanes>(a_i), fields<lanes>(b_i)); }
  void drive(const int& dot) override { dot_o = dot; }
};

}  // namespace narrowgauge::systemc
