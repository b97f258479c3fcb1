// SPDX-License-Identifier: Apache-2.0
// Lock-step of a unit with cuts and its SystemC module (docs/cuts.md): random inputs, edges without enable among them.
// Build parameter: NG_CUTS, other than 0.
#pragma once

#include <bit>
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

/// The budget's clock cycles: inputs are random but for those that stimulate() drives; all outputs are compared, once
/// the pipe is full.
void run_cut_lockstep(auto& both, auto& pins, auto stimulate) {
  constexpr int latency = std::popcount(static_cast<unsigned>(NG_CUTS));
  std::uint64_t held = 0;
  int filled = 0;
  for (std::uint64_t i = 0; i < both.bench.budget(); ++i) {
    const bool enable = both.bench.rng().chance(0.7);
    both.drive_random(pins);
    stimulate();
    both.drive(pins.en_i, enable);
    both.settle();
    if (filled == latency) both.same(pins);
    both.tick();
    if (enable && filled < latency) ++filled;
    if (filled == latency) both.same(pins);
    held += !enable;
    both.bench.vector();
  }
  both.covered("the pipe stood still", held);
}
void run_cut_lockstep(auto& both, auto& pins) {
  run_cut_lockstep(both, pins, [] {});
}

}  // namespace narrowgauge::bench
