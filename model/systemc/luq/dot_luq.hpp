// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_dot_luq with cuts: ports and latency of rtl/luq/ng_dot_luq.sv.
#pragma once

#include <bit>

#include "narrowgauge/luq/mul_luq.hpp"
#include "systemc/cut_pipe.hpp"
#include "systemc/port.hpp"

namespace narrowgauge::systemc {

template <int lanes, int cuts, class Core = CutPipeCore<cuts, int>>
class DotLuq : public CutPipe<Core, int> {
 public:
  static constexpr int dot_width = 11 + std::bit_width(static_cast<unsigned>(lanes)) - 1;
  sc_core::sc_in<Port<4 * lanes>> a_i{"a_i"}, b_i{"b_i"};
  sc_core::sc_out<Port<dot_width>> dot_o{"dot_o"};

  using CutPipe<Core, int>::CutPipe;

 private:
  int value() const override { return luq_dot(fields_of<lanes, 4>(a_i), fields_of<lanes, 4>(b_i)); }
  void drive(const int& dot) override { dot_o = port_of_signed<dot_width>(dot); }
};

}  // namespace narrowgauge::systemc
