// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_noise_monitor: ports and latency of
// rtl/quant/ng_noise_monitor.sv.
#pragma once

#include "systemc/quant/noise_monitor_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <NoiseMonitorParams params, class Core = NoiseMonitorCore<params>>
struct NoiseMonitor : Shell<Core> {
  using Shell<Core>::Shell;
  static constexpr int y_width = params.lanes * params.width(), acc_width = params.acc_width();
  In<1> valid_i{"valid_i"}, first_i{"first_i"};
  In<y_width> y_i{"y_i"};
  In<7> scale_i{"scale_i"};
  Out<acc_width> excess_o{"excess_o"};
  Out<1> noisy_o{"noisy_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, first_i, fields<params.lanes, std::uint32_t>(y_i), scale_i.read());
  }
  void drive(const Core& core) override {
    excess_o = core.excess();
    noisy_o = core.noisy();
  }
};

}  // namespace narrowgauge::systemc
