// SPDX-License-Identifier: Apache-2.0
// Lock-step of a unit with cuts and its SystemC module (docs/cuts.md): random inputs, edges without enable among them.
// Build parameter: NG_CUTS, other than 0.
#pragma once

#include <cstdint>

#include "lockstep.hpp"
#include "systemc/cut_pipe_core.hpp"

namespace narrowgauge::bench {

inline constexpr const char* cut_faults[] = {"an edge without enable counts", "an edge with enable is lost",
                                             "a value comes twice"};

/// The cycle model, with faults.
template <class Value>
struct FaultyCutPipe : systemc::CutPipeCore<NG_CUTS, Value> {
  using Base = systemc::CutPipeCore<NG_CUTS, Value>;
  void step(bool enable, const Value& value) {
    if (fault == 3 && enable && ++count_ % 50 == 0) return Base::step(true, last_);
    Base::step(enable ? !(fault == 2 && ++count_ % 50 == 0) : fault == 1, value);
    last_ = value;
  }
  std::uint64_t count_ = 0;
  Value last_{};
};

/// The budget's clock cycles: stimulate() drives the inputs, compare() compares the outputs, once the pipe is full.
template <class Verilated, class Module>
void run_cut_lockstep(Lockstep<Verilated>& both, Module& model, auto stimulate, auto compare) {
  auto& bench = both.bench;
  sc_core::sc_signal<bool> en_i;
  model.clk_i(both.clk);
  model.en_i(en_i);
  std::uint64_t held = 0;
  int filled = 0;
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    const bool enable = bench.rng().chance(0.7);
    both.drive(both.dut->en_i, en_i, enable);
    stimulate();
    both.settle();
    if (filled == Module::latency) compare();
    both.tick();
    if (enable && filled < Module::latency) ++filled;
    if (filled == Module::latency) compare();
    held += !enable;
    bench.vector();
  }
  both.covered("the pipe stood still", held);
}

}  // namespace narrowgauge::bench
