// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/softmax/ng_exaq_codes.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "narrowgauge/softmax/exaq.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Rows of beats of `lanes` keys. Outputs are functions of the state; step() is a clock edge.
template <int bits, int lanes, int count_bits>
class ExaqCodesCore {
 public:
  static constexpr std::size_t codes = std::size_t{1} << bits;
  using Keys = std::array<std::uint32_t, static_cast<std::size_t>(lanes)>;
  using Codes = std::array<std::uint8_t, static_cast<std::size_t>(lanes)>;
  using Counts = std::array<std::uint32_t, codes>;
  using Thresholds = std::array<std::uint16_t, codes - 1>;

  /// A beat's codes.
  struct Beat {
    Codes codes{};           ///< 0 in lanes that are not attended
    std::uint64_t mask = 0;  ///< attended lanes
    bool last = false;       ///< the row ends
  };

  void reset() { *this = {}; }

  bool ready() const { return queue_.ready() && !(behind_.valid && behind_.beat.last && counts_wait_); }
  bool valid() const { return queue_.valid(); }
  /// The beat that is offered; meaningful only while valid().
  const Beat& beat() const { return queue_.data(); }
  /// Thermometer counts of the row, [0] being n; meaningful only while valid() and beat().last.
  const Counts& counts() const { return result_; }
  bool too_long() const { return too_long_; }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, const Keys& keys, std::uint64_t mask, bool first, bool last, const Thresholds& thresholds,
            bool ready) {
    const bool move = this->ready(), push = move && behind_.valid;
    if (queue_.valid() && ready && beat().last) counts_wait_ = false;
    queue_.step(push ? &behind_.beat : nullptr, ready);
    if (push) count();
    if (!move) return;
    behind_ = ahead_;
    ahead_ = {.valid = valid, .first = first, .beat = {.codes = {}, .mask = mask, .last = last}};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (mask >> i & 1) ahead_.beat.codes[i] = static_cast<std::uint8_t>(exaq_key_code(keys[i], thresholds));
    }
  }

 private:
  /// A beat in a stage.
  struct Stage {
    bool valid = false, first = false;
    Beat beat;
  };

  /// The beat behind stage 2 is counted.
  void count() {
    if (behind_.first) counts_ = {};
    for (std::size_t i = 0; i < behind_.beat.codes.size(); ++i) {
      if (!(behind_.beat.mask >> i & 1)) continue;
      for (std::size_t k = 0; k <= behind_.beat.codes[i]; ++k) ++counts_[k];
    }
    too_long_ |= counts_[0] >> count_bits != 0;
    for (std::uint32_t& count : counts_) count &= (1U << count_bits) - 1;
    if (!behind_.beat.last) return;
    result_ = counts_;
    counts_wait_ = true;
  }

  Stage ahead_, behind_;  ///< behind stage 1, behind stage 2
  Fifo2Core<Beat> queue_;
  Counts counts_{}, result_{};
  bool counts_wait_ = false, too_long_ = false;
};

}  // namespace narrowgauge::systemc
