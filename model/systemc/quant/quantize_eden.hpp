// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_quantize_eden: ports, latency and back-pressure of rtl/quant/ng_quantize_eden.sv. codes_o,
// scale_o and last_o have a meaning beside valid_o only.
#pragma once

#include <bit>

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/quantize_eden_core.hpp"

namespace narrowgauge::systemc {

template <int man_bits, std::uint32_t element_max = std::bit_cast<std::uint32_t>(eden_element_max), int rand_bits = 24,
          class Core = QuantizeEdenCore<rand_bits>>
class QuantizeEden : public Clocked {
  static constexpr int bits = 9 + man_bits;

 public:
  sc_core::sc_in<Port<32>> tensor_scale_i{"tensor_scale_i"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<16 * bits>> data_i{"data_i"};
  sc_core::sc_in<Port<rand_bits>> rand_i{"rand_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<64>> codes_o{"codes_o"};
  sc_core::sc_out<Port<7>> scale_o{"scale_o"};
  sc_core::sc_out<bool> last_o{"last_o"};

  explicit QuantizeEden(sc_core::sc_module_name name) : Clocked(name), core_(std::bit_cast<float>(element_max)) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    std::array<float, 16> x{};
    const auto fields = fields_of<16, bits>(data_i);
    for (std::size_t i = 0; i < 16; ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(fields[i]) << (23 - man_bits));
    core_.step(std::bit_cast<float>(static_cast<std::uint32_t>(tensor_scale_i.read())), valid_i ? &x : nullptr,
               static_cast<std::uint32_t>(rand_i.read()), last_i, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    codes_o = port_of_fields<4>(core_.codes());
    scale_o = core_.scale();
    last_o = core_.valid() && core_.last();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
