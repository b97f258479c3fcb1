// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_plane_acc: ports, latency and back-pressure of rtl/binary/ng_plane_acc.sv.
#pragma once

#include "systemc/binary/plane_acc_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {

template <int rows, int cols, int planes, int sum_bits, class Core = PlaneAccCore<rows, cols, planes, sum_bits>>
struct PlaneAcc : Shell<Core>, Streams {
  using Shell<Core>::Shell;

  In<planes * rows> planes_i{"planes_i"};
  In<8 * rows * cols> v_i{"v_i"};
  In<1> first_i{"first_i"}, last_i{"last_i"};
  Out<sum_bits * planes * cols> sums_o{"sums_o"};

 private:
  void step(Core& core) override {
    core.step(valid_i, fields<planes * rows>(planes_i), fields<rows * cols, std::int8_t>(v_i), first_i, last_i,
              ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    sums_o = port_of_fields<sum_bits>(core.sums());
  }
};

}  // namespace narrowgauge::systemc
