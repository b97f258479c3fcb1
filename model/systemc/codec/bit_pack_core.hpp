// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/codec/ng_bit_pack.sv.
#pragma once

#include <cstdint>

#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Words of `width` bits, codes of up to `code_bits`. Outputs are functions of the state; step() is a clock edge.
template <unsigned width, unsigned code_bits>
class BitPackCore {
  static_assert(width >= 16 && width <= 64 && code_bits <= 16,
                "BitPackCore: words of 16 to 64 bits, codes of up to 16");

 public:
  struct Code {
    std::uint16_t bits;  ///< the first one in the highest place of code_bits, zeros behind the last
    unsigned length;
    bool last;
  };
  struct Word {
    std::uint64_t bits = 0;
    bool last = false;
  };

  void reset() {
    words_.reset();
    held_ = 0;
    fill_ = 0;
    tail_ = false;
  }

  bool ready() const { return words_.ready() && !tail_; }
  bool valid() const { return words_.valid(); }
  const Word& word() const { return words_.data(); }

  /// `code`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Code* code, bool ready) {
    Word word;
    bool put = false;
    if (tail_ && words_.ready()) {
      word = {take(), true};
      put = true;
      fill_ = 0;
      tail_ = false;
    } else if (code && this->ready()) {
      held_ |= static_cast<unsigned __int128>(code->bits) << (128 - code_bits) >> fill_;
      fill_ += code->length;
      const bool whole = fill_ >= width;
      if (whole || code->last) {
        word = {take(), code->last && fill_ <= width};
        put = true;
        fill_ = whole ? fill_ - width : 0;
        tail_ = code->last && fill_ != 0;
      }
    }
    words_.step(put ? &word : nullptr, ready);
  }

 private:
  std::uint64_t take() {
    const auto bits = static_cast<std::uint64_t>(held_ >> (128 - width));
    held_ <<= width;
    return bits;
  }

  Fifo2Core<Word> words_;
  unsigned __int128 held_ = 0;  ///< the first bit is the highest
  unsigned fill_ = 0;
  bool tail_ = false;  ///< what is held is the last word of a tile
};

}  // namespace narrowgauge::systemc
