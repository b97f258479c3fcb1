// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_smooth_channel.sv.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "narrowgauge/quant/smooth_channel.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// What ng_smooth_channel does with a row.
enum class SmoothOp : std::uint8_t { begin, measure, divide, multiply };

/// Beats of `lanes` BF16 codes, rows of `max_beats` at most. Outputs are functions of the state; step() is a clock
/// edge. beat(), scales() and last() have a meaning beside valid() only.
template <std::size_t lanes, std::size_t max_beats>
class SmoothChannelCore {
  static_assert(max_beats >= 2 && (max_beats & (max_beats - 1)) == 0,
                "SmoothChannelCore: max_beats must be a power of two, 2 or more");

 public:
  using Beat = std::array<std::uint16_t, lanes>;
  struct Word {
    SmoothOp op;  ///< of use with the first beat of a row
    bool last;
    Beat data;
  };

  void reset() {
    queue_.reset();
    index_ = length_ = 0;
    valid_ = too_long_ = false;
  }

  bool ready() const { return queue_.ready(); }
  bool valid() const { return valid_; }
  bool last() const { return last_; }
  bool too_long() const { return too_long_; }
  const Beat& beat() const { return beat_; }
  const std::array<std::uint8_t, lanes>& scales() const { return scales_; }

  /// `word`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Word* word, bool ready) {
    const bool take = queue_.valid() && (!valid_ || ready);
    valid_ = valid_ && !ready;
    if (take) work(queue_.data());
    queue_.step(word, take);
  }

 private:
  void work(const Word& word) {
    if (index_ == 0) op_ = word.op;
    if (op_ == SmoothOp::begin && index_ == 0) length_ = 0;
    auto& largest = largest_[index_];
    const bool fresh = index_ >= length_;
    if (op_ == SmoothOp::begin || op_ == SmoothOp::measure) {
      if (fresh) {
        largest.fill(0);
        length_ = index_ + 1;
      }
      for (std::size_t i = 0; i < lanes; ++i) {
        const std::uint8_t exponent = word.data[i] >> 7 & 0xFF;
        if (exponent != 255) largest[i] = std::max(largest[i], exponent);
      }
    } else {
      for (std::size_t i = 0; i < lanes; ++i) {
        scales_[i] = fresh || largest[i] == 0 ? 127 : largest[i];
        beat_[i] = op_ == SmoothOp::divide ? smooth_divide(word.data[i], scales_[i])
                                           : smooth_multiply(word.data[i], scales_[i]);
      }
      valid_ = true;
    }
    last_ = word.last || index_ + 1 == max_beats;
    too_long_ |= last_ && !word.last;
    index_ = last_ ? 0 : index_ + 1;
  }

  Fifo2Core<Word> queue_;
  std::array<std::array<std::uint8_t, lanes>, max_beats> largest_{};  ///< exponents, 0 where there is no normal number
  std::size_t index_ = 0, length_ = 0;  ///< the next beat of the row; beats of the longest row of the block
  SmoothOp op_ = SmoothOp::begin;       ///< of the row
  bool valid_ = false, last_ = false, too_long_ = false;
  Beat beat_{};
  std::array<std::uint8_t, lanes> scales_{};
};

}  // namespace narrowgauge::systemc
