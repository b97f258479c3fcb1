// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_philox4x32: ports, latency and back-pressure of rtl/format/ng_philox4x32.sv.
#pragma once

#include "systemc/format/philox4x32_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int rounds_per_cycle, class Core = Philox4x32Core<rounds_per_cycle>>
struct Philox4x32 : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<128> counter_i{"counter_i"};
  In<64> key_i{"key_i"};
  Out<128> random_o{"random_o"}, counter_o{"counter_o"};
  Out<64> key_o{"key_o"};

 private:
  void step(Core& core) override { core.step(valid_i, counter_i.words(), key_i.words(), ready_i); }
  void drive(const Core& core) override {
    handshake(core);
    random_o = core.random();
    counter_o = core.counter();
    key_o = core.key();
  }
};

}  // namespace narrowgauge::systemc
