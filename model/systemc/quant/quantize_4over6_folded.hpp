// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_4over6_folded: ports, latency and back-pressure of
// rtl/quant/ng_quantize_4over6_folded.sv. codes_o, scale_o and last_o have a meaning beside valid_o only.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/quantize_4over6_folded_core.hpp"

namespace narrowgauge::systemc {

template <int lanes, class Core = Quantize4over6FoldedCore<lanes>>
class Quantize4over6Folded : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<16 * lanes>> a_i{"a_i"};
  sc_core::sc_in<Port<32>> tensor_scale_i{"tensor_scale_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<4 * lanes>> codes_o{"codes_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};
  sc_core::sc_out<bool> last_o{"last_o"};

  explicit Quantize4over6Folded(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    typename Core::Numbers numbers{};
    const auto fields = fields_of<lanes, 16>(a_i);
    for (std::size_t i = 0; i < lanes; ++i) numbers[i] = static_cast<std::uint16_t>(fields[i]);
    core_.step(valid_i ? &numbers : nullptr, static_cast<std::uint32_t>(tensor_scale_i.read()), ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    codes_o = port_of_fields<4>(core_.data().codes);
    scale_o = core_.data().scale;
    last_o = core_.data().last;
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
