// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_exaq_codes: ports, latency and back-pressure of rtl/softmax/ng_exaq_codes.sv.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/softmax/exaq_codes_core.hpp"

namespace narrowgauge::systemc {

template <int bits, int lanes, int count_bits, class Core = ExaqCodesCore<bits, lanes, count_bits>>
struct ExaqCodes : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int codes = 1 << bits;

  In<16 * lanes> keys_i{"keys_i"};
  In<lanes> mask_i{"mask_i"};
  In<1> first_i{"first_i"}, last_i{"last_i"};
  In<16 * (codes - 1)> thresholds_i{"thresholds_i"};
  Out<bits * lanes> codes_o{"codes_o"};
  Out<lanes> mask_o{"mask_o"};
  Out<1> last_o{"last_o"};
  Out<count_bits * codes> counts_o{"counts_o"};
  Out<1> too_long_o{"too_long_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, fields<lanes, std::uint32_t>(keys_i), mask_i.read(), first_i, last_i,
              fields<codes - 1, std::uint16_t>(thresholds_i), ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    codes_o = port_of_fields<bits>(core.beat().codes);
    mask_o = static_cast<Port<lanes>>(core.beat().mask);
    last_o = core.beat().last;
    counts_o = port_of_fields<count_bits>(core.counts());
    too_long_o = core.too_long();
  }
};

}  // namespace narrowgauge::systemc
