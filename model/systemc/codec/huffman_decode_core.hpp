// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/codec/ng_huffman_decode.sv.
#pragma once

#include <array>
#include <cstdint>

#include "narrowgauge/codec/huffman.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Words of `width` bits. Outputs are functions of the state; step() is a clock edge. The table is not reset.
template <unsigned width>
class HuffmanDecodeCore {
  static_assert(width >= 16 && width <= 64, "HuffmanDecodeCore: words of 16 to 64 bits");

 public:
  struct Word {
    std::uint64_t bits = 0;  ///< the first one is bit width - 1
    bool last = false;
  };
  struct Beat {
    std::uint8_t value = 0;
    bool last = false, fault = false, empty = false;
  };

  void reset() {
    words_.reset();
    this_valid_ = next_valid_ = false;
    place_ = 0;
    head_ = true;
    ends_ = dropping_ = false;
    coming_valid_ = valid_ = false;
  }

  bool ready() const { return words_.ready(); }
  bool valid() const { return valid_; }
  const Beat& beat() const { return beat_; }

  /// An access of the table's port: `data` as table_data_i, `address` as table_addr_i.
  void load(unsigned address, std::uint32_t data) {
    if (address < huffman_symbols) {
      table_.symbols[address] = static_cast<std::uint8_t>(data);
    } else if (const unsigned length = address % 16; length >= 1 && length <= huffman_bits) {
      table_.limit[length - 1] = static_cast<std::uint16_t>(data >> 8);
      table_.base[length - 1] = static_cast<std::uint8_t>(data);
    }
  }

  /// `word`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Word* word, bool ready) {
    const bool enable = !valid_ || ready;
    bool shift = dropping_ && this_valid_;
    Beat found;
    bool found_valid = false;
    if (dropping_) {
      if (this_valid_ && this_.last) dropping_ = false;
    } else if (this_valid_ && (next_valid_ || this_.last) && enable) {
      shift = decode(found, found_valid);
    }
    if (enable) {
      beat_ = coming_;
      valid_ = coming_valid_;
      coming_ = found;
      coming_valid_ = found_valid;
    }
    // The words move up.
    const bool take = !next_valid_ || !this_valid_ || shift;
    if (shift || !this_valid_) {
      this_ = next_;
      this_valid_ = next_valid_;
    }
    const bool offered = words_.valid();
    const Word head = words_.data();
    words_.step(word, take);
    if (take) {
      next_ = head;
      next_valid_ = offered;
    }
  }

 private:
  /// `count` bits from `place` on; what is behind both words, or not there, is of no meaning.
  unsigned bits(unsigned place, unsigned count) const {
    const unsigned __int128 both = static_cast<unsigned __int128>(this_.bits) << width | next_.bits;
    return static_cast<unsigned>(both >> (2 * width - place % width - count)) & ((1U << count) - 1);
  }

  /// One code, or the header of a tile's last block; whether the first word is used up.
  bool decode(Beat& beat, bool& valid) {
    const unsigned window = bits(place_, 14), code = window % 4096;
    const bool counting = head_ && (window & 0x1000) != 0;
    if (head_) {
      raw_ = (window & 0x2000) != 0;
      left_ = 63;
    }
    const Decoded decoded = raw_ ? Decoded{8, static_cast<std::uint8_t>(code >> 4)} : decode_window(table_, code);
    const unsigned taken = counting ? 6 : decoded.length;
    const bool past = place_ + taken + 2 > width, block_end = left_ == 0, last = block_end && ends_;
    const bool broken = (this_.last && past) || (!counting && decoded.length == 0);
    valid = !counting || broken;
    if (broken) {
      beat = {0, true, true, true};
    } else {
      beat = {decoded.symbol, last, last && !(past ? next_.last : this_.last), false};
    }
    if (broken || last) {
      place_ = 0;
      head_ = true;
      ends_ = false;
      dropping_ = true;
      return false;
    }
    head_ = block_end;
    ends_ |= counting;
    left_ = counting ? code >> 6 : left_ - 1;
    place_ += taken + (block_end ? 2 : 0);
    if (place_ < width || this_.last) return false;
    place_ -= width;
    return true;
  }

  Fifo2Core<Word> words_;
  Word this_, next_;
  bool this_valid_ = false, next_valid_ = false;
  DecoderTable table_;
  unsigned place_ = 0, left_ = 0;
  bool head_ = true, raw_ = false, ends_ = false, dropping_ = false;
  Beat coming_, beat_;
  bool coming_valid_ = false, valid_ = false;
};

}  // namespace narrowgauge::systemc
