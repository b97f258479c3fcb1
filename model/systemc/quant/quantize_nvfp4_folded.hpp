// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_nvfp4_folded: ports, latency and back-pressure of
// rtl/quant/ng_quantize_nvfp4_folded.sv. codes_o, scale_o and last_o have a meaning beside valid_o only.
#pragma once

#include <bit>

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/quantize_nvfp4_folded_core.hpp"

namespace narrowgauge::systemc {

template <int lanes, int rand_bits, class Core = QuantizeNvfp4FoldedCore<lanes, rand_bits>>
class QuantizeNvfp4Folded : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<16 * lanes>> a_i{"a_i"};
  sc_core::sc_in<Port<rand_bits * lanes>> rand_i{"rand_i"};
  sc_core::sc_in<Port<32>> tensor_scale_i{"tensor_scale_i"};
  sc_core::sc_in<bool> stochastic_i{"stochastic_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<4 * lanes>> codes_o{"codes_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};
  sc_core::sc_out<bool> last_o{"last_o"};

  explicit QuantizeNvfp4Folded(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    typename Core::Beat beat;
    const auto x = fields_of<lanes, 16>(a_i);
    const auto words = fields_of<lanes, rand_bits>(rand_i);
    for (std::size_t i = 0; i < lanes; ++i) {
      beat.x[i] = static_cast<std::uint16_t>(x[i]);
      beat.words[i] = static_cast<std::uint32_t>(words[i]);
    }
    core_.step(valid_i ? &beat : nullptr, std::bit_cast<float>(static_cast<std::uint32_t>(tensor_scale_i.read())),
               stochastic_i, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    codes_o = port_of_fields<4>(core_.codes());
    scale_o = core_.scale();
    last_o = core_.last();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
