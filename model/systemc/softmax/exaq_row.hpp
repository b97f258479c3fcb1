// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_exaq_row: ports, latency and back-pressure of rtl/softmax/ng_exaq_row.sv.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/softmax/exaq_row_core.hpp"

namespace narrowgauge::systemc {

template <int bits, int count_bits, class Core = ExaqRowCore<bits, count_bits>>
struct ExaqRowUnit : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int codes = 1 << bits;

  In<count_bits * codes> counts_i{"counts_i"};
  In<16 * codes> table_i{"table_i"};
  Out<32> probability_o{"probability_o"};
  Out<bits> code_o{"code_o"};
  Out<1> last_o{"last_o"};
  Out<count_bits + 16> sum_o{"sum_o"};
  Out<1> empty_o{"empty_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, fields<codes, std::uint32_t>(counts_i), fields<codes, std::uint16_t>(table_i), ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    probability_o = core.probability();
    code_o = core.code();
    last_o = core.last();
    sum_o = core.sum();
    empty_o = core.empty();
  }
};

}  // namespace narrowgauge::systemc
