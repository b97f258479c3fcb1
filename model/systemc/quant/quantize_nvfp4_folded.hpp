// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_nvfp4_folded: ports, latency and back-pressure of
// rtl/quant/ng_quantize_nvfp4_folded.sv. codes_o, scale_o and last_o have a meaning beside valid_o only.
#pragma once

#include <bit>

#include "systemc/quant/quantize_nvfp4_folded_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int lanes, int rand_bits, class Core = QuantizeNvfp4FoldedCore<lanes, rand_bits>>
struct QuantizeNvfp4Folded : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  In<16 * lanes> a_i{"a_i"};
  In<rand_bits * lanes> rand_i{"rand_i"};
  In<32> tensor_scale_i{"tensor_scale_i"};
  In<1> stochastic_i{"stochastic_i"};
  Out<4 * lanes> codes_o{"codes_o"};
  Out<8> scale_o{"scale_o"};
  Out<1> last_o{"last_o"};

 private:
  void step(Core& core) override {
    typename Core::Beat beat;
    const auto x = fields<lanes>(a_i);
    const auto words = fields<lanes>(rand_i);
    for (std::size_t i = 0; i < lanes; ++i) {
      beat.x[i] = static_cast<std::uint16_t>(x[i]);
      beat.words[i] = static_cast<std::uint32_t>(words[i]);
    }
    core.step(valid_i ? &beat : nullptr, std::bit_cast<float>(tensor_scale_i.value()), stochastic_i, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    codes_o = core.codes();
    scale_o = core.scale();
    last_o = core.last();
  }
};

}  // namespace narrowgauge::systemc
