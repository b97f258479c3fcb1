// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_smooth_token: ports, latency and back-pressure of rtl/quant/ng_smooth_token.sv.
#pragma once

#include "systemc/quant/smooth_token_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int lanes, int max_beats, class Core = SmoothTokenCore<lanes, max_beats>>
struct SmoothToken : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int bits = 16 * lanes;

  In<bits> data_i{"data_i"};
  In<1> last_i{"last_i"};
  Out<bits> data_o{"data_o"};
  Out<1> last_o{"last_o"};
  Out<8> scale_o{"scale_o"};
  Out<1> too_long_o{"too_long_o"};

 private:
  void step(Core& core) override {
    const auto beat = fields<lanes>(data_i);
    core.step(valid_i ? &beat : nullptr, last_i, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.beat();
    last_o = core.last();
    scale_o = core.scale();
    too_long_o = core.too_long();
  }
};

}  // namespace narrowgauge::systemc
