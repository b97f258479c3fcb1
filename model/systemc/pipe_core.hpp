// SPDX-License-Identifier: Apache-2.0
// Cycle model of what stands in the stages of a pipe that a tile cuts (docs/cuts.md), each with a bit "valid".
#pragma once

#include <algorithm>
#include <array>
#include <optional>

namespace narrowgauge::systemc {

/// `stages` registers, 0 or more, with one enable: none are wires. step() is a clock edge with enable.
template <int stages, class Value>
class PipeCore {
  static_assert(stages >= 0, "PipeCore: stages must be 0 or more");

 public:
  void reset() { values_.fill(std::nullopt); }

  /// A register holds something.
  bool busy() const {
    return std::any_of(values_.begin(), values_.end(), [](const auto& value) { return value.has_value(); });
  }

  /// What comes out in the cycle in which `value` (nothing: a bubble) goes in.
  std::optional<Value> step(std::optional<Value> value) {
    if constexpr (stages > 0) std::swap(value, values_[turn_]);
    if constexpr (stages > 1) turn_ = turn_ == stages - 1 ? 0 : turn_ + 1;
    return value;
  }

 private:
  std::array<std::optional<Value>, stages> values_{};
  std::size_t turn_ = 0;  // the oldest one
};

}  // namespace narrowgauge::systemc
