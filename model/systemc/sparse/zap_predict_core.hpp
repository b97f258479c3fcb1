// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/sparse/ng_zap_predict.sv.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "narrowgauge/sparse/zap.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// A place of a map a beat, row by row. Outputs are functions of the state; step() is a clock edge.
template <int channels>
class ZapPredictCore {
 public:
  using Outputs = std::array<std::int8_t, channels>;
  /// Kept outputs of a place, a bit a channel.
  struct Kept {
    std::uint64_t keep = 0;
    bool last = false;
  };
  /// What a beat brings.
  struct Place {
    Outputs outputs{};
    int kind = 0;                 ///< above 10: all places are computed
    std::size_t last_column = 0;  ///< read, as kind, with a map's first place
    bool last = false;
  };

  /// Coefficients outlive a reset.
  void reset() {
    places_.clear();
    zeros_ = 0;
    stages_ = {};
    queue_.reset();
  }

  bool ready() const { return queue_.ready() && zeros_ == 0; }
  bool valid() const { return queue_.valid(); }
  const Kept& result() const { return queue_.data(); }

  void load(std::size_t channel, const ZapChannel& coefficients) {
    if (channel < channels) coefficients_[channel] = coefficients;
  }

  /// `place`: what is offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Place* place, bool ready) {
    const bool move = queue_.ready(), take = place && this->ready();
    queue_.step(stages_.back() ? &*stages_.back() : nullptr, ready);
    if (!move) return;
    std::ranges::copy_backward(std::span(stages_).first(stages_.size() - 1), stages_.end());
    stages_.front().reset();
    if (take) {
      if (places_.empty()) kind_ = place->kind, columns_ = place->last_column + 1;
      const std::size_t row = places_.size() / columns_, column = places_.size() % columns_;
      const bool computed = kind_ >= zap_kinds || zap_computed(kind_, row, column);
      places_.push_back({computed ? place->outputs : Outputs{}, computed});
      if (place->last && column + 1 == columns_) zeros_ = behind();
    } else if (zeros_ > 0) {
      --zeros_;
    } else {
      return;
    }
    // A row and a place behind each of both filters' middles.
    const std::size_t steps = places_.size() + (take ? 0 : behind() - zeros_);
    if (steps > behind()) stages_.front() = kept(steps - 1 - behind());
    if (!take && zeros_ == 0) {
      stages_.front()->last = true;
      places_.clear();
    }
  }

 private:
  struct Masked {
    Outputs outputs{};
    bool computed = false;
  };

  std::size_t behind() const { return 2 * (columns_ + 1); }

  /// The sum of a filter about a place, of numbers that `number` gives for places in the map.
  std::int32_t filtered(const std::array<std::int8_t, 9>& weights, std::size_t place, auto&& number) const {
    const std::size_t row = place / columns_, column = place % columns_;
    std::int32_t sum = 0;
    for (std::size_t tap = 0; tap < 9; ++tap) {
      const std::size_t r = row + tap / 3, c = column + tap % 3;  // one too large
      if (r == 0 || c == 0 || c > columns_) continue;
      const std::size_t at = (r - 1) * columns_ + c - 1;
      if (at < places_.size()) sum += weights[tap] * number(at);
    }
    return sum;
  }

  Kept kept(std::size_t place) const {
    Kept made;
    for (std::size_t i = 0; i < channels; ++i) {
      const ZapChannel& channel = coefficients_[i];
      const std::int32_t sum = filtered(channel.second, place, [&](std::size_t middle) {
        return zap_hidden(channel, filtered(channel.first, middle,
                                            [&](std::size_t at) -> std::int32_t { return places_[at].outputs[i]; }));
      });
      made.keep |= std::uint64_t{places_[place].computed || sum > channel.threshold} << i;
    }
    return made;
  }

  std::array<ZapChannel, channels> coefficients_{};
  std::vector<Masked> places_;  ///< of the map
  int kind_ = 0;
  std::size_t columns_ = 2;
  std::size_t zeros_ = 0;  ///< still to come behind the map
  std::array<std::optional<Kept>, 10> stages_{};
  Fifo2Core<Kept> queue_;
};

}  // namespace narrowgauge::systemc
