// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_smooth_token: ports, latency and back-pressure of rtl/quant/ng_smooth_token.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/smooth_token_core.hpp"

namespace narrowgauge::systemc {

template <int lanes, int max_beats, class Core = SmoothTokenCore<lanes, max_beats>>
class SmoothToken : public Clocked {
  static constexpr int bits = 16 * lanes;

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<bits>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<bits>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"};
  sc_core::sc_out<Port<8>> scale_o{"scale_o"};
  sc_core::sc_out<bool> too_long_o{"too_long_o"};

  explicit SmoothToken(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const auto beat = fields_of<lanes, 16>(data_i);
    core_.step(valid_i ? &beat : nullptr, last_i, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = port_of_fields<16>(core_.beat());
    last_o = core_.last();
    scale_o = core_.scale();
    too_long_o = core_.too_long();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
