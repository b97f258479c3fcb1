// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_eden: ports, latency and back-pressure of rtl/quant/ng_quantize_eden.sv. codes_o,
// scale_o and last_o have a meaning beside valid_o only.
#pragma once

#include <bit>

#include "systemc/quant/quantize_eden_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int man_bits, std::uint32_t element_max = std::bit_cast<std::uint32_t>(eden_element_max), int rand_bits = 24,
          class Core = QuantizeEdenCore<rand_bits>>
struct QuantizeEden : Shell<Core>, Streams {
  static constexpr int bits = 9 + man_bits;

  In<32> tensor_scale_i{"tensor_scale_i"};
  In<16 * bits> data_i{"data_i"};
  In<rand_bits> rand_i{"rand_i"};
  In<1> last_i{"last_i"};
  Out<64> codes_o{"codes_o"};
  Out<7> scale_o{"scale_o"};
  Out<1> last_o{"last_o"};

  explicit QuantizeEden(sc_core::sc_module_name name) : Shell<Core>(name, std::bit_cast<float>(element_max)) {}

 private:
  void step(Core& core) override {
    std::array<float, 16> x{};
    const auto codes = fields<16, std::uint32_t>(data_i);
    for (std::size_t i = 0; i < 16; ++i) x[i] = std::bit_cast<float>(codes[i] << (23 - man_bits));
    core.step(std::bit_cast<float>(tensor_scale_i.value()), valid_i ? &x : nullptr, rand_i.value(), last_i, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    codes_o = core.codes();
    scale_o = core.scale();
    last_o = core.valid() && core.last();
  }
};

}  // namespace narrowgauge::systemc
