// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_delayed_scaling.sv.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "narrowgauge/mac/div_fp32.hpp"
#include "narrowgauge/quant/delayed_scaling.hpp"

namespace narrowgauge::systemc {

struct DelayedScalingParams {
  int history, largest, margin;
  bool power_of_two, tensor_scale;
};

/// The scale of the next tensor, some edges after the largest magnitude of one was taken. Outputs are functions of the
/// state; step() is a clock edge.
template <DelayedScalingParams params>
class DelayedScalingCore {
 public:
  void reset() { *this = {}; }

  bool ready() const { return to_go_ == 0; }
  std::uint32_t scale() const { return scale_; }

  /// valid: a maximum is offered, FP32 without its sign.
  void step(bool valid, std::uint32_t amax) {
    if (to_go_ > 0) {
      if (--to_go_ == 0)
        scale_ = std::bit_cast<std::uint32_t>(params.tensor_scale ? rule_.tensor_scale() : rule_.scale());
      return;
    }
    if (!valid) return;
    rule_.record(std::bit_cast<float>(amax));
    std::uint32_t largest = 0;
    for (const float old : rule_.history()) largest = std::max(largest, std::bit_cast<std::uint32_t>(old));
    // The memory's words and one more edge, then the decision.
    const auto words = static_cast<int>(rule_.history().size());
    to_go_ = (params.history > 1 ? words + 1 : 0) + 1;
    if (largest == 0 || largest >= 0x7F800000) return;
    if (!params.power_of_two) {
      constexpr auto constant = static_cast<float>(params.largest);
      const std::uint32_t c = std::bit_cast<std::uint32_t>(constant);
      to_go_ += (params.tensor_scale ? div_fp32_steps(largest, c) : div_fp32_steps(c, largest)) + 1;
    }
  }

 private:
  narrowgauge::DelayedScaling rule_{{.largest = static_cast<float>(params.largest),
                                     .history = static_cast<std::size_t>(params.history),
                                     .margin = params.margin,
                                     .power_of_two = params.power_of_two}};
  std::uint32_t scale_ = 0x3F800000;
  int to_go_ = 0;  ///< edges until ready()
};

}  // namespace narrowgauge::systemc
