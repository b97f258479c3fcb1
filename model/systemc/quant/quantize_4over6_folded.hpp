// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_4over6_folded: ports, latency and back-pressure of
// rtl/quant/ng_quantize_4over6_folded.sv. codes_o, scale_o and last_o have a meaning beside valid_o only.
#pragma once

#include "systemc/quant/quantize_4over6_folded_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int lanes, class Core = Quantize4over6FoldedCore<lanes>>
struct Quantize4over6Folded : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<16 * lanes> a_i{"a_i"};
  In<32> tensor_scale_i{"tensor_scale_i"};
  Out<4 * lanes> codes_o{"codes_o"};
  Out<8> scale_o{"scale_o"};
  Out<1> last_o{"last_o"};

 private:
  void step(Core& core) override {
    const auto numbers = fields<lanes>(a_i);
    core.step(valid_i ? &numbers : nullptr, tensor_scale_i.value(), ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    codes_o = core.data().codes;
    scale_o = core.data().scale;
    last_o = core.data().last;
  }
};

}  // namespace narrowgauge::systemc
