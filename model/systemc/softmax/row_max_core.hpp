// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/softmax/ng_row_max.sv.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "narrowgauge/softmax/exaq.hpp"

namespace narrowgauge::systemc {

/// Rows of beats of 16 keys. Outputs are functions of the state; step() is a clock edge. cuts: `TreeCuts` of the RTL.
template <unsigned cuts>
class RowMaxCore {
 public:
  using Keys = std::array<std::uint32_t, 16>;

  void reset() { *this = {}; }

  bool ready() const { return !(valid_ && stages_.back().valid && stages_.back().last); }
  bool valid() const { return valid_; }
  /// The largest key of the row; meaningful only while valid() and any().
  std::uint32_t max() const { return result_.value_or(0); }
  /// Whether a key of the row was attended; meaningful only while valid().
  bool any() const { return result_.has_value(); }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, const Keys& keys, std::uint32_t mask, bool first, bool last, bool ready) {
    const bool move = this->ready();
    if (ready) valid_ = false;
    if (!move) return;
    Beat beat{.valid = valid, .first = first, .last = last, .largest = exaq_row_max(keys, mask)};
    for (Beat& stage : stages_) std::swap(stage, beat);
    if (!beat.valid) return;
    if (beat.first) row_.reset();
    if (beat.largest) row_ = std::max(row_.value_or(0), *beat.largest);
    if (!beat.last) return;
    valid_ = true;
    result_ = row_;
  }

 private:
  struct Beat {
    bool valid = false, first = false, last = false;
    std::optional<std::uint32_t> largest;
  };
  static constexpr std::size_t depth = 2 + std::popcount(cuts);
  std::array<Beat, depth> stages_;  ///< behind stages 1 and 2 and behind the cuts
  std::optional<std::uint32_t> row_, result_;
  bool valid_ = false;
};

}  // namespace narrowgauge::systemc
