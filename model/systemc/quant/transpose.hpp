// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_transpose: ports, latency and back-pressure of rtl/quant/ng_transpose.sv.
#pragma once

#include "systemc/quant/transpose_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int size, int width, class Core = TransposeCore<Field<width>, static_cast<std::size_t>(size)>>
struct Transpose : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static_assert(width >= 1 && width <= 64, "Transpose: width must be 1 to 64");
  static constexpr int bits = size * width;

  In<bits> data_i{"data_i"};
  Out<bits> data_o{"data_o"};

 private:
  void step(Core& core) override {
    const auto row = fields<size>(data_i);
    core.step(valid_i ? &row : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    data_o = core.column();
  }
};

}  // namespace narrowgauge::systemc
