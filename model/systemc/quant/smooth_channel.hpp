// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_smooth_channel: ports, latency and back-pressure of rtl/quant/ng_smooth_channel.sv. data_o,
// scale_o and last_o have a meaning beside valid_o only.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/smooth_channel_core.hpp"

namespace narrowgauge::systemc {

template <int lanes, int max_beats, class Core = SmoothChannelCore<lanes, max_beats>>
class SmoothChannel : public Clocked {
  static constexpr int bits = 16 * lanes;

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<2>> op_i{"op_i"};
  sc_core::sc_in<Port<bits>> data_i{"data_i"};
  sc_core::sc_in<bool> last_i{"last_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<bits>> data_o{"data_o"};
  sc_core::sc_out<Port<8 * lanes>> scale_o{"scale_o"};
  sc_core::sc_out<bool> last_o{"last_o"};
  sc_core::sc_out<bool> too_long_o{"too_long_o"};

  explicit SmoothChannel(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const typename Core::Word word{static_cast<SmoothOp>(op_i.read()), last_i, fields_of<lanes, 16>(data_i)};
    core_.step(valid_i ? &word : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = port_of_fields<16>(core_.beat());
    scale_o = port_of_fields<8>(core_.scales());
    last_o = core_.last();
    too_long_o = core_.too_long();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
