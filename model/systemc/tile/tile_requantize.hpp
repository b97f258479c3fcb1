// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile_requantize: ports, latency and back-pressure of rtl/tile/ng_tile_requantize.sv.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/tile/tile_requantize_core.hpp"

namespace narrowgauge::systemc {

template <int rows, int cols, int lanes, unsigned format_set, int stream_width, unsigned cuts,
          class Core = TileRequantizeCore<rows, cols, lanes, format_set, stream_width, cuts>>
struct TileRequantize : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int numbers = static_cast<int>(Core::numbers);

  In<numbers * 16> data_i{"data_i"};
  In<4> format_i{"format_i"};
  In<32> tensor_scale_i{"tensor_scale_i"};
  In<1> end_i{"end_i"}, last_i{"last_i"}, irq_i{"irq_i"};
  Out<stream_width> data_o{"data_o"};
  Out<1> last_o{"last_o"}, irq_o{"irq_o"}, busy_o{"busy_o"};
  In<1> clear_amax_i{"clear_amax_i"};
  Out<15> amax_o{"amax_o"};

 private:
  void step(Core& core) override {
    const typename Core::Beat beat{.data = fields<numbers>(data_i),
                                   .format = format_i.value(),
                                   .tensor_scale = tensor_scale_i,
                                   .end = end_i,
                                   .last = last_i,
                                   .irq = irq_i};
    core.step(valid_i ? &beat : nullptr, ready_i, clear_amax_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.data();
    last_o = core.last();
    irq_o = core.irq();
    busy_o = core.busy();
    amax_o = core.amax();
  }
};

}  // namespace narrowgauge::systemc
