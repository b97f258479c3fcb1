// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_delayed_scaling: ports and latency of rtl/quant/ng_delayed_scaling.sv.
#pragma once

#include "systemc/quant/delayed_scaling_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <DelayedScalingParams params, class Core = DelayedScalingCore<params>>
struct DelayedScaling : Shell<Core> {
  using Shell<Core>::Shell;
  In<1> valid_i{"valid_i"};
  Out<1> ready_o{"ready_o"};
  In<31> amax_i{"amax_i"};
  Out<32> scale_o{"scale_o"};

 private:
  void step(Core& core) override { core.step(valid_i, amax_i.read()); }
  void drive(const Core& core) override {
    ready_o = core.ready();
    scale_o = core.scale();
  }
};

}  // namespace narrowgauge::systemc
