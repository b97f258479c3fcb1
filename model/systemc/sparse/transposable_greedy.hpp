// SPDX-License-Identifier: Apache-2.0
// SystemC module of ng_transposable_greedy: ports, latency and back-pressure of rtl/sparse/ng_transposable_greedy.sv.
#pragma once

#include "systemc/clocked.hpp"
#include "systemc/port.hpp"
#include "systemc/sparse/transposable_greedy_core.hpp"

namespace narrowgauge::systemc {

template <int side, int keep, int width, class Core = TransposableGreedyCore<static_cast<std::size_t>(side), keep>>
class TransposableGreedy : public Clocked {
  static_assert(keep >= 1 && keep <= side, "TransposableGreedy: keep must be 1 to side");
  static_assert(width >= 1 && width <= 32, "TransposableGreedy: width must be 1 to 32");

 public:
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_in<Port<side * width>> magnitudes_i{"magnitudes_i"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};
  sc_core::sc_out<Port<side * side>> mask_o{"mask_o"};

  explicit TransposableGreedy(sc_core::sc_module_name name) : Clocked(name) {}

 private:
  void reset() override { core_.reset(); }
  void step() override {
    const auto codes = fields_of<side, width>(magnitudes_i);
    typename Core::Row row;
    std::copy(codes.begin(), codes.end(), row.begin());
    core_.step(valid_i ? &row : nullptr, ready_i);
  }
  void drive() override {
    ready_o = core_.ready();
    valid_o = core_.valid();
    mask_o = port_of_fields<1>(core_.mask());
  }

  Core core_;
};

}  // namespace narrowgauge::systemc
