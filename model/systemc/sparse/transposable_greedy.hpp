// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_transposable_greedy: ports, latency and back-pressure of rtl/sparse/ng_transposable_greedy.sv.
#pragma once

#include "systemc/shell.hpp"
#include "systemc/sparse/transposable_greedy_core.hpp"

namespace narrowgauge::systemc {

template <int side, int keep, int width, class Core = TransposableGreedyCore<static_cast<std::size_t>(side), keep>>
struct TransposableGreedy : Shell<Core>, Streams {
  using Shell<Core>::Shell;
  static_assert(keep >= 1 && keep <= side, "TransposableGreedy: keep must be 1 to side");
  static_assert(width >= 1 && width <= 32, "TransposableGreedy: width must be 1 to 32");

  In<side * width> magnitudes_i{"magnitudes_i"};
  Out<side * side> mask_o{"mask_o"};

 private:
  void step(Core& core) override {
    const auto codes = fields<side>(magnitudes_i);
    typename Core::Row row;
    std::copy(codes.begin(), codes.end(), row.begin());
    core.step(valid_i ? &row : nullptr, ready_i);
  }
  void drive(const Core& core) override {
    handshake(core);
    mask_o = core.mask();
  }
};

}  // namespace narrowgauge::systemc
