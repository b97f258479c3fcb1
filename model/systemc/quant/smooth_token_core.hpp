// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_smooth_token.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "narrowgauge/quant/smooth_scale.hpp"

namespace narrowgauge::systemc {

/// Beats of `lanes` BF16 codes, rows of `max_beats` at most. Outputs are functions of the state; step() is a clock
/// edge.
template <std::size_t lanes, std::size_t max_beats>
class SmoothTokenCore {
  static_assert(max_beats >= 2 && (max_beats & (max_beats - 1)) == 0,
                "SmoothTokenCore: max_beats must be a power of two, 2 or more");

 public:
  using Beat = std::array<std::uint16_t, lanes>;

  void reset() {
    for (Bank& bank : banks_) bank.beats = 0, bank.full = false;
    write_bank_ = read_bank_ = 0;
    read_ = 0;
    valid_ = too_long_ = false;
  }

  bool ready() const { return !banks_[write_bank_].full; }
  bool valid() const { return valid_; }
  bool last() const { return last_; }
  bool too_long() const { return too_long_; }
  std::uint8_t scale() const { return scale_; }
  const Beat& beat() const { return beat_; }

  /// `beat`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Beat* beat, bool last, bool ready) {
    const bool push = beat && this->ready(), fetch = banks_[read_bank_].full && (!valid_ || ready);
    if (fetch) {
      Bank& bank = banks_[read_bank_];
      scale_ = bank.scale;
      for (std::size_t i = 0; i < lanes; ++i) beat_[i] = smooth_divide(bank.rows[read_ * lanes + i], scale_);
      last_ = ++read_ == bank.beats;
      if (last_) {
        bank.beats = 0;
        bank.full = false;
        read_ = 0;
        read_bank_ ^= 1;
      }
    }
    if (push) {
      Bank& bank = banks_[write_bank_];
      for (std::size_t i = 0; i < lanes; ++i) bank.rows[bank.beats * lanes + i] = (*beat)[i];
      ++bank.beats;
      if (last || bank.beats == max_beats) {
        bank.scale = smooth_scale({bank.rows.data(), bank.beats * lanes});
        bank.full = true;
        write_bank_ ^= 1;
        too_long_ |= !last;
      }
    }
    valid_ = fetch || (valid_ && !ready);
  }

 private:
  struct Bank {
    std::array<std::uint16_t, lanes * max_beats> rows{};
    std::size_t beats = 0;
    bool full = false;
    std::uint8_t scale = 0;
  };
  std::array<Bank, 2> banks_{};
  std::size_t write_bank_ = 0, read_bank_ = 0, read_ = 0;
  bool valid_ = false, last_ = false, too_long_ = false;
  std::uint8_t scale_ = 0;
  Beat beat_{};
};

}  // namespace narrowgauge::systemc
