// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_image.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace narrowgauge::systemc {

/// An image of `slots` beats of codes, `slot_width` bits each, and of `scale_bits` of block scales. Outputs are
/// functions of the state; step() is a clock edge.
template <std::size_t slot_width, std::size_t slots, std::size_t scale_bits, std::size_t stream_width>
class TileImageCore {
 public:
  using Word = std::array<std::uint32_t, stream_width / 32>;
  struct Slot {
    std::array<std::uint32_t, (slot_width + 31) / 32> codes{};
    std::array<std::uint8_t, 8> scales{};  ///< of the blocks that end with it
    std::size_t scaled = 0;                ///< how many these are
    bool last = false, irq = false;        ///< of the image
  };

  void reset() { *this = {}; }

  bool ready() const { return (!word_end() && !end()) || (!valid_ && left_ == 0); }
  bool end() const { return slot_ == slots - 1; }
  bool valid() const { return valid_; }
  const Word& data() const { return data_; }
  bool last() const { return last_; }
  bool irq() const { return irq_; }
  bool busy() const { return valid_ || left_ > 0; }

  /// `slot`: what is taken, which ready() allows, or nullptr. `ready`: ready_i.
  void step(const Slot* slot, bool ready) {
    const bool tail_moves = left_ > 0 && (!valid_ || ready);
    valid_ = valid_ && !ready;
    if (tail_moves) {
      valid_ = true;
      data_ = tail_[tail_words - left_];
      last_ = left_ == 1 && tail_last_;
      irq_ = tail_irq_;
      --left_;
    }
    if (!slot) return;
    for (std::size_t i = 0; i < slot_width; i += 4)
      put(word_, slot_ % per_word * slot_width + i, 4, slot->codes[i / 32] >> i % 32 & 0xF);
    for (std::size_t i = 0; i < slot->scaled; ++i) scales_[scaled_++] = slot->scales[i];
    if (word_end()) {
      valid_ = true;
      data_ = word_;
      last_ = end() && slot->last && tail_words == 0;
      irq_ = slot->irq;
    }
    if (end()) {
      if constexpr (tail_words > 0) {
        tail_ = {};
        for (std::size_t i = 0; i < rest; i += 4) put(tail_[0], i, 4, word_[i / 32] >> i % 32 & 0xF);
        for (std::size_t i = 0; i < scale_bits / 8; ++i) {
          for (std::size_t half = 0; half < 2; ++half) {
            const std::size_t at = rest + 8 * i + 4 * half;
            put(tail_[at / stream_width], at % stream_width, 4, scales_[i] >> 4 * half & 0xFU);
          }
        }
        left_ = tail_words;
        tail_last_ = slot->last;
        tail_irq_ = slot->irq;
      }
      scales_.fill(0);
      scaled_ = 0;
    }
    slot_ = end() ? 0 : slot_ + 1;
  }

 private:
  static constexpr std::size_t per_word = stream_width / slot_width, rest = slots * slot_width % stream_width;
  static constexpr std::size_t tail_words = (rest + scale_bits + stream_width - 1) / stream_width;

  bool word_end() const { return slot_ % per_word == per_word - 1; }
  static void put(Word& word, std::size_t at, unsigned width, std::uint32_t value) {
    std::uint32_t& part = word[at / 32];
    part = (part & ~(((1U << width) - 1) << at % 32)) | value << at % 32;
  }

  std::size_t slot_ = 0, scaled_ = 0, left_ = 0;
  Word word_{}, data_{};
  std::array<std::uint8_t, scale_bits / 8 + 1> scales_{};
  std::array<Word, tail_words + 1> tail_{};
  bool valid_ = false, last_ = false, irq_ = false, tail_last_ = false, tail_irq_ = false;
};

}  // namespace narrowgauge::systemc
