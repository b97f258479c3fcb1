// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/codec/ng_huffman_encode.sv.
#pragma once

#include <array>
#include <cstdint>

#include "narrowgauge/codec/tile_stream.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge. The table is not reset.
class HuffmanEncodeCore {
 public:
  struct Value {
    std::uint8_t value;
    bool last;
  };
  struct Code {
    std::uint16_t bits = 0;  ///< the first one is bit 13, zeros behind the last
    unsigned length = 0;
    bool last = false;
  };

  void reset() {
    for (Bank& bank : banks_) bank = {};
    write_bank_ = read_bank_ = read_ = 0;
    start_ = true;
    valid_ = false;
  }

  bool ready() const { return !banks_[write_bank_].busy; }
  bool valid() const { return valid_; }
  const Code& code() const { return code_; }

  /// An access of the table's port.
  void load(std::uint8_t address, std::uint16_t data) {
    table_[address] = {static_cast<std::uint8_t>(data >> huffman_bits), static_cast<std::uint16_t>(data % 4096)};
  }

  /// `value`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Value* value, bool ready) {
    const bool take = value && this->ready(), fetch = banks_[read_bank_].whole && (!valid_ || ready);
    if (fetch) {
      Bank& bank = banks_[read_bank_];
      if (start_ && bank.last) {
        put(static_cast<unsigned>(bank.raw << 7 | 1 << 6) | (bank.count - 1), 8);
        start_ = false;
      } else {
        const std::uint8_t symbol = bank.values[read_++];
        const EncoderEntry& entry = table_[symbol];
        code_ = {};
        if (start_) put(static_cast<unsigned>(bank.raw << 1), 2);
        const unsigned length = bank.raw ? 8 : entry.length;
        append(bank.raw ? symbol : static_cast<unsigned>(entry.code >> (huffman_bits - entry.length)), length);
        start_ = read_ == bank.count;
        code_.last = start_ && bank.last;
        if (start_) {
          bank = {};
          read_ = 0;
          read_bank_ = (read_bank_ + 1) % 4;
        }
      }
    }
    // A block is whole one cycle after its last value came, when the table's answer is there.
    for (Bank& bank : banks_) {
      if (!bank.busy || bank.whole) continue;
      bank.whole = true;
      bank.raw = block_is_raw({bank.values.data(), bank.count}, table_);
    }
    if (take) {
      Bank& bank = banks_[write_bank_];
      bank.values[bank.count++] = value->value;
      if (value->last || bank.count == codec_block) {
        bank.busy = true;
        bank.last = value->last;
        write_bank_ = (write_bank_ + 1) % 4;
      }
    }
    valid_ = fetch || (valid_ && !ready);
  }

 private:
  struct Bank {
    std::array<std::uint8_t, codec_block> values{};
    unsigned count = 0;
    bool busy = false, whole = false, last = false, raw = false;
  };

  void put(unsigned bits, unsigned length) {
    code_ = {};
    append(bits, length);
  }
  void append(unsigned bits, unsigned length) {
    code_.length += length;
    code_.bits |= static_cast<std::uint16_t>(bits << (14 - code_.length));
  }

  std::array<Bank, 4> banks_{};
  std::array<EncoderEntry, huffman_symbols> table_{};
  unsigned write_bank_ = 0, read_bank_ = 0, read_ = 0;
  bool start_ = true, valid_ = false;
  Code code_;
};

}  // namespace narrowgauge::systemc
