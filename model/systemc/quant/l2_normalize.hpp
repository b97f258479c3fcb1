// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_l2_normalize: ports, latency and back-pressure of rtl/quant/ng_l2_normalize.sv. y_o and last_o
// are 0 where valid_o is low; the RTL's have no meaning then.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/l2_normalize_core.hpp"

namespace narrowgauge::systemc {

template <int man_bits, int max_elements, std::uint32_t epsilon = l2_epsilon,
          class Core = L2NormalizeCore<max_elements, epsilon>>
class L2Normalize : public Clocked {
  static constexpr int bits = 9 + man_bits;

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<bits>> x_i{"x_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<32>> y_o{"y_o"};
  sc_core::sc_out<bool> last_o{"last_o"};
  sc_core::sc_out<bool> too_long_o{"too_long_o"};

  explicit L2Normalize(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    core_.step(valid_i, static_cast<std::uint32_t>(x_i.read()) << (23 - man_bits), last_i, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    y_o = core_.y();
    last_o = core_.valid() && core_.last();
    too_long_o = core_.too_long();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
