// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_fifo: ports, latency and back-pressure of rtl/prim/ng_fifo.sv.
#pragma once

#include <bit>

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/prim/fifo_core.hpp"

namespace narrowgauge::systemc {

template <int width, int depth, bool block_ram = false, class Core = FifoCore<Port<width>, depth, block_ram>>
class Fifo : public Clocked {
  static_assert(width >= 1, "Fifo: width must be 1 or more");
  static constexpr int space_width = std::bit_width(static_cast<unsigned>(depth));

 public:
  sc_core::sc_in<bool> flush_i{"flush_i"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<width>> data_i{"data_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<width>> data_o{"data_o"};
  sc_core::sc_out<Port<space_width>> space_o{"space_o"};

  explicit Fifo(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override { core_.step(valid_i ? &data_i.read() : nullptr, ready_i, flush_i); }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = core_.data();
    space_o = static_cast<Port<space_width>>(core_.space());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
