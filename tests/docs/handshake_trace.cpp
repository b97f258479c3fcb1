// SPDX-License-Identifier: Apache-2.0
// ng_fifo2 on the RTL under a few cycles of bubbles and stalls: docs/pictures/handshake.trace.
#include "Vdut.h"
#include "trace.hpp"

int main() {
  // By cycles: a word is offered; the word at the output is taken.
  constexpr char offered[] = "01110011111000", taken[] = "11111000011111";
  Vdut unit;
  unit.clk_i = unit.rst_ni = unit.valid_i = unit.ready_i = unit.data_i = 0;
  unit.eval();
  unit.rst_ni = 1;
  narrowgauge::trace::Writer trace("ng_fifo2, Width = 8: tests/docs/handshake_trace.cpp on the RTL");
  unsigned word = 0xA1, given = 0, got = 0xA1;
  bool waiting = false;
  for (unsigned cycle = 0; offered[cycle] != 0; ++cycle) {
    unit.valid_i = waiting || offered[cycle] == '1';
    unit.data_i = unit.valid_i ? word : 0;
    unit.ready_i = taken[cycle] == '1';
    unit.eval();
    trace.cycle({{"valid_i", unit.valid_i},
                 {"ready_o", unit.ready_o},
                 {"data_i", unit.data_i},
                 {"valid_o", unit.valid_o},
                 {"ready_i", unit.ready_i},
                 {"data_o", unit.data_o}});
    waiting = unit.valid_i && !unit.ready_o;
    if (unit.valid_i && unit.ready_o) ++word, ++given;
    if (unit.valid_o && unit.ready_i && unit.data_o != got++) return 1;
    unit.clk_i = 1;
    unit.eval();
    unit.clk_i = 0;
    unit.eval();
  }
  unit.final();
  return given > 5 && got - 0xA1 == given ? 0 : 1;  // every word came out, in order
}
