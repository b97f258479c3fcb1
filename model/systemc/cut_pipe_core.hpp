// SPDX-License-Identifier: Apache-2.0
// Cycle model of every unit with cuts (docs/cuts.md).
#pragma once

#include <algorithm>
#include <array>
#include <bit>

namespace narrowgauge::systemc {

/// What is on its way through a unit of `cuts`, a mask of one bit or more: as many values as there are cuts. A cut
/// delays and does nothing else, so its value is the golden function's, whatever the place. step() is a clock edge.
template <int cuts, class Value>
class CutPipeCore {
  static_assert(cuts > 0, "CutPipeCore: cuts must have a bit set; without one a unit is its golden function");

 public:
  static constexpr int latency = std::popcount(static_cast<unsigned>(cuts));

  /// The oldest value; of no meaning before `latency` edges with enable.
  const Value& value() const { return values_.back(); }

  /// enable: en_i. value: the golden function of the inputs.
  void step(bool enable, const Value& value) {
    if (!enable) return;
    std::copy_backward(values_.begin(), values_.end() - 1, values_.end());
    values_.front() = value;
  }

 private:
  std::array<Value, latency> values_{};
};

}  // namespace narrowgauge::systemc
