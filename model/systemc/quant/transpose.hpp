// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_transpose: ports, latency and back-pressure of rtl/quant/ng_transpose.sv.
#pragma once

#include <cstdint>

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/quant/transpose_core.hpp"

namespace narrowgauge::systemc {

template <int size, int width, class Core = TransposeCore<std::uint64_t, static_cast<std::size_t>(size)>>
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
  using Line = typename Core::Line;

  void reset() override { core_.reset(); }
  void step() override {
    Line row{};
    if (valid_i) {
      const PortWords<bits> words = words_of<bits>(data_i.read());
      for (std::size_t bit = 0; bit < bits; ++bit)
        row[bit / width] |= std::uint64_t{words[bit / 32] >> bit % 32 & 1} << bit % width;
    }
    core_.step(valid_i ? &row : nullptr, ready_i);
  }
  void drive() override {
    PortWords<bits> words{};
    for (std::size_t bit = 0; bit < bits; ++bit)
      words[bit / 32] |= static_cast<std::uint32_t>(core_.column()[bit / width] >> bit % width & 1) << bit % 32;
    ready_o = core_.ready();
    valid_o = core_.valid();
    data_o = port_of<bits>(words);
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
