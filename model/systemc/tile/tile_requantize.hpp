// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_tile_requantize: ports, latency and back-pressure of rtl/tile/ng_tile_requantize.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/tile/tile_requantize_core.hpp"

namespace narrowgauge::systemc {

template <int rows, int cols, int lanes, unsigned format_set, int stream_width, unsigned cuts,
          class Core = TileRequantizeCore<rows, cols, lanes, format_set, stream_width, cuts>>
class TileRequantize : public Clocked {
  static constexpr int numbers = static_cast<int>(Core::numbers);

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<numbers * 16>> data_i{"data_i"};
  sc_core::sc_in<Port<4>> format_i{"format_i"};
  sc_core::sc_in<Port<32>> tensor_scale_i{"tensor_scale_i"};
  sc_core::sc_in<bool> end_i{"end_i"}, last_i{"last_i"}, irq_i{"irq_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<stream_width>> data_o{"data_o"};
  sc_core::sc_out<bool> last_o{"last_o"}, irq_o{"irq_o"}, busy_o{"busy_o"};
  sc_core::sc_in<bool> clear_amax_i{"clear_amax_i"};
  sc_core::sc_out<Port<15>> amax_o{"amax_o"};

  explicit TileRequantize(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const typename Core::Beat beat{.data = fields_of<numbers, 16>(data_i),
                                   .format = static_cast<std::uint8_t>(format_i.read()),
                                   .tensor_scale = tensor_scale_i,
                                   .end = end_i,
                                   .last = last_i,
                                   .irq = irq_i};
    core_.step(valid_i ? &beat : nullptr, ready_i, clear_amax_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = port_of<stream_width>(core_.data());
    last_o = core_.last();
    irq_o = core_.irq();
    busy_o = core_.busy();
    amax_o = core_.amax();
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
