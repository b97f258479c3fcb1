// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_smooth_channel: ports, latency and back-pressure of rtl/quant/ng_smooth_channel.sv. data_o,
// scale_o and last_o have a meaning beside valid_o only.
#pragma once

#include "systemc/quant/smooth_channel_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int lanes, int max_beats, class Core = SmoothChannelCore<lanes, max_beats>>
struct SmoothChannel : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static constexpr int bits = 16 * lanes;

  In<2> op_i{"op_i"};
  In<bits> data_i{"data_i"};
  In<1> last_i{"last_i"};
  Out<bits> data_o{"data_o"};
  Out<8 * lanes> scale_o{"scale_o"};
  Out<1> last_o{"last_o"}, too_long_o{"too_long_o"};

 private:
  void step(Core& core) override {
    const typename Core::Word word{static_cast<SmoothOp>(op_i.read()), last_i, fields<lanes>(data_i)};
    core.step(valid_i ? &word : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.beat();
    scale_o = core.scales();
    last_o = core.last();
    too_long_o = core.too_long();
  }
};

}  // namespace narrowgauge::systemc
