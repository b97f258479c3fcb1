// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_zap_queue: ports, latency and back-pressure of rtl/sparse/ng_zap_queue.sv. Places of cells
// without an output are 0; the RTL's have no meaning.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/sparse/zap_queue_core.hpp"

namespace narrowgauge::systemc {

template <int columns, int rows, int depth, int place_bits, class Core = ZapQueueCore<columns, rows, depth>>
struct ZapQueue : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  In<place_bits> place_i{"place_i"};
  In<columns> keep_i{"keep_i"};
  In<1> last_i{"last_i"};
  Out<columns> active_o{"active_o"};
  Out<columns * place_bits> places_o{"places_o"};
  Out<1> pass_last_o{"pass_last_o"}, last_o{"last_o"};

 private:
  void step(Core& core) override {
    const typename Core::Place place{.place = place_i.value(), .keep = keep_i.value(), .last = last_i};
    core.step(valid_i ? &place : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    active_o = core.result().active;
    places_o = core.result().places;
    pass_last_o = core.result().pass_last;
    last_o = core.result().last;
  }
};

}  // namespace narrowgauge::systemc
