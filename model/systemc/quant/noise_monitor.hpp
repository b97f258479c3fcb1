// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_noise_monitor: ports and latency of
// rtl/quant/ng_noise_monitor.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/noise_monitor_core.hpp"

namespace narrowgauge::systemc {

template <NoiseMonitorParams params, class Core = NoiseMonitorCore<params>>
class NoiseMonitor : public Clocked {
 public:
  static constexpr int y_width = params.lanes * params.width(), acc_width = params.acc_width();
  sc_core::sc_in<bool> valid_i{"valid_i"}, first_i{"first_i"};
  sc_core::sc_in<Port<y_width>> y_i{"y_i"};
  sc_core::sc_in<Port<7>> scale_i{"scale_i"};
  sc_core::sc_out<Port<acc_width>> excess_o{"excess_o"};
  sc_core::sc_out<bool> noisy_o{"noisy_o"};

  explicit NoiseMonitor(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const PortWords<y_width> words = words_of<y_width>(y_i);
    typename Core::Magnitudes magnitudes{};
    for (int bit = 0; bit < y_width; ++bit)
      magnitudes[static_cast<std::size_t>(bit / params.width())] |=
          (words[static_cast<std::size_t>(bit / 32)] >> bit % 32 & 1) << bit % params.width();
    core_.step(valid_i, first_i, magnitudes, scale_i.read());
  }
  void drive() override {
    excess_o = port_of_signed<acc_width>(core_.excess());
    noisy_o = core_.noisy();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
