// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_delayed_scaling: ports and latency of rtl/quant/ng_delayed_scaling.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/delayed_scaling_core.hpp"

namespace narrowgauge::systemc {

template <DelayedScalingParams params, class Core = DelayedScalingCore<params>>
class DelayedScaling : public Clocked {
 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<31>> amax_i{"amax_i"};
  sc_core::sc_out<Port<32>> scale_o{"scale_o"};

  explicit DelayedScaling(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i, amax_i.read()); }
  void drive() override {
    ready_o = core_.ready();
    scale_o = core_.scale();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
