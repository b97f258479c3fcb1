// SPDX-License-Identifier: Apache-2.0
// FP8 scales from the maxima of earlier steps, so that a tensor is quantized while it is made (docs/quantizers.md,
// Delayed scaling).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {

struct DelayedScalingOptions {
  float largest = 448;         ///< of the format: 448 for E4M3 (Gaudi 2: 240), 57344 for E5M2
  std::size_t history = 1024;  ///< maxima that are remembered
  int margin = 0;              ///< powers of two that are left free
  bool power_of_two = false;   ///< scales are powers of two, found without a division
  bool most_recent = false;    ///< the newest maximum instead of the largest of the history
};

/// What a tensor of FP8 is multiplied by before it is rounded, as Transformer Engine's delayed scaling has it.
class DelayedScaling {
 public:
  explicit DelayedScaling(const DelayedScalingOptions& options = {}) : options_(options) {
    if (!(std::isfinite(options.largest) && options.largest > 0)) {
      throw Error("the largest value of the format is " + std::to_string(options.largest) +
                  "; expected a positive finite number");
    }
    if (options.history == 0) throw Error("a history of 0 maxima was asked for; expected at least 1");
    if (options.margin < -100 || options.margin > 100) {
      throw Error("the margin is " + std::to_string(options.margin) + "; expected -100 to 100");
    }
  }

  /// All that it remembers, to go on elsewhere.
  struct State {
    DelayedScalingOptions options;
    float scale, tensor_scale;
    std::vector<float> history;
  };
  explicit DelayedScaling(State state) : DelayedScaling(state.options) {
    scale_ = state.scale;
    tensor_scale_ = state.tensor_scale;
    history_ = std::move(state.history);
  }
  State state() const { return {options_, scale_, tensor_scale_, history_}; }

  /// For the next tensor; 1 at first.
  float scale() const { return scale_; }
  /// The tensor scale of the next tensor, what decoding multiplies by, as the exact rule takes it: fl(A / (largest
  /// 2^-margin)), from 2^-126 to FLT_MAX; power_of_two: one over scale(). 1 at first.
  float tensor_scale() const { return tensor_scale_; }
  /// The maxima that are remembered, the oldest first.
  const std::vector<float>& history() const { return history_; }

  /// Takes the largest magnitude of a tensor, after it was quantized: scale() = fl(fl(largest / A) / 2^margin), A the
  /// largest of the history, and FLT_MAX where that is infinite; power_of_two: the largest 2^e with A 2^(e + margin) <=
  /// largest, -126 <= e <= 127. A maximum of 0, and a history with an infinity or a NaN, leave the scale as it was;
  /// most_recent: the newest maximum alone decides, so an older NaN does not.
  void record(float amax) {
    if (history_.size() == options_.history) history_.erase(history_.begin());
    history_.push_back(amax);
    float a = amax;
    for (const float old : history_) {
      if (options_.most_recent) break;
      if (!std::isfinite(old)) return;
      a = std::max(a, old);
    }
    if (!(std::isfinite(a) && a > 0)) return;
    scale_ =
        options_.power_of_two ? power_of_two(a) : std::min(std::ldexp(options_.largest / a, -options_.margin), limit);
    tensor_scale_ = options_.power_of_two
                        ? 1 / scale_
                        : std::clamp(a / std::ldexp(options_.largest, -options_.margin), 0x1p-126F, limit);
  }

 private:
  static constexpr float limit = std::numeric_limits<float>::max();

  float power_of_two(float a) const {
    int e = std::ilogb(options_.largest) - std::ilogb(a);
    if (std::ldexp(double{a}, e) > double{options_.largest}) --e;
    return std::ldexp(1.0F, std::clamp(e - options_.margin, -126, 127));
  }

  DelayedScalingOptions options_;
  float scale_ = 1, tensor_scale_ = 1;
  std::vector<float> history_;
};

}  // namespace narrowgauge
