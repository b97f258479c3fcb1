// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_rht16_folded.sv.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "narrowgauge/quant/rht16.hpp"

namespace narrowgauge::systemc {

/// Beats of `lanes` BF16 codes, 16 / lanes of a block. Outputs are functions of the state; step() is a clock edge.
template <std::size_t lanes, int window>
class Rht16FoldedCore {
  static_assert(lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8, "Rht16FoldedCore: lanes must be 1, 2, 4 or 8");

 public:
  using Beat = std::array<std::uint16_t, lanes>;
  static constexpr std::size_t beats = 16 / lanes;
  /// Edges on which the pipe moves from the one at which a beat leaves the buffer to the one at which its results are
  /// there: registers of the buffer, of the levels across beats (Delay + 1 each), sum, normalizer and rounding.
  static constexpr std::size_t depth = 1 + (beats - 1 + std::bit_width(beats) - 1) + 3;

  void reset() {
    for (Bank& bank : banks_) bank.beats = 0, bank.full = false;
    write_bank_ = read_bank_ = 0;
    read_ = 0;
    for (Slot& slot : pipe_) slot.valid = false;
  }

  bool ready() const { return !banks_[write_bank_].full; }
  bool valid() const { return pipe_[depth - 1].valid; }
  const Beat& beat() const { return pipe_[depth - 1].y; }
  bool exact() const { return pipe_[depth - 1].exact; }

  /// `beat`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Beat* beat, bool ready) {
    const bool push = beat && this->ready(), move = !valid() || ready;
    if (move) {
      for (std::size_t i = depth - 1; i > 0; --i) pipe_[i] = pipe_[i - 1];
      Bank& bank = banks_[read_bank_];
      pipe_[0].valid = bank.full;
      if (bank.full) {
        for (std::size_t i = 0; i < lanes; ++i) pipe_[0].y[i] = bank.result.y[read_ * lanes + i];
        pipe_[0].exact = bank.result.exact;
        if (++read_ == beats) {
          bank.beats = 0;
          bank.full = false;
          read_ = 0;
          read_bank_ ^= 1;
        }
      }
    }
    if (push) {
      Bank& bank = banks_[write_bank_];
      for (std::size_t i = 0; i < lanes; ++i) bank.x[bank.beats * lanes + i] = (*beat)[i];
      if (++bank.beats == beats) {
        bank.result = rht16(bank.x, window);
        bank.full = true;
        write_bank_ ^= 1;
      }
    }
  }

 private:
  struct Bank {
    Rht16Block x{};
    Rht16Result result{};
    std::size_t beats = 0;
    bool full = false;
  };
  struct Slot {
    Beat y{};
    bool valid = false, exact = false;
  };
  std::array<Bank, 2> banks_{};
  std::array<Slot, depth> pipe_{};
  std::size_t write_bank_ = 0, read_bank_ = 0, read_ = 0;
};

}  // namespace narrowgauge::systemc
