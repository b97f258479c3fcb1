// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/prim/ng_reset_sync.sv.
#pragma once

namespace narrowgauge::systemc {

/// Counts rising edges since the reset up to `stages`. The output is a function of the state; step() is a clock edge.
template <int stages>
class ResetSyncCore {
  static_assert(stages >= 2 && stages <= 16, "ResetSyncCore: stages must be 2 to 16");

 public:
  void reset() { edges_ = 0; }

  bool released() const { return edges_ == stages; }

  void step() { edges_ += edges_ < stages ? 1 : 0; }

 private:
  int edges_ = 0;
};

}  // namespace narrowgauge::systemc
