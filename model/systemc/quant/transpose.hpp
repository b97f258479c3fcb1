// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_transpose: ports, latency and back-pressure of rtl/quant/ng_transpose.sv.
#pragma once

#include <cstdint>

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/transpose_core.hpp"

namespace narrowgauge::systemc {

template <int size, int width, class Core = TransposeCore<Field<width>, static_cast<std::size_t>(size)>>
class Transpose : public Clocked {
  static_assert(width >= 1 && width <= 64, "Transpose: width must be 1 to 64");
  static constexpr int bits = size * width;

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<bits>> data_i{"data_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<bits>> data_o{"data_o"};

  explicit Transpose(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const auto row = fields_of<size, width>(data_i);
    core_.step(valid_i ? &row : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = port_of_fields<width>(core_.column());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
