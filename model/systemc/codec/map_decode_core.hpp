// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/codec/ng_map_decode.sv.
#pragma once

#include <cstdint>

#include "systemc/codec/huffman_decode_core.hpp"
#include "systemc/codec/zero_expand_core.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Words of `width` bits; `with_runs`: zeros are expanded. Outputs are functions of the state; step() is a clock edge.
/// Tables are not reset.
template <unsigned width, bool with_runs>
class MapDecodeCore {
  using Decode = HuffmanDecodeCore<width>;

 public:
  struct Word {
    std::uint64_t bits = 0;    ///< the first byte lowest
    std::uint32_t number = 0;  ///< in the first word of a tile: of its values, less 1
    bool last = false;
  };
  using Beat = ZeroExpandCore::Beat;

  void reset() {
    numbers_.reset();
    decode_.reset();
    expand_.reset();
    values_.reset();
    first_ = true;
    count_ = 0;
    dropping_ = false;
  }

  bool ready() const { return decode_.ready() && (!first_ || numbers_.ready()); }
  bool valid() const { return values_.valid(); }
  const Beat& beat() const { return values_.data(); }

  /// An access of the table's port.
  void load(unsigned address, std::uint32_t data) {
    if (address < 512) {
      decode_.load(address, data);
    } else {
      expand_.load(address % 8, static_cast<std::uint8_t>(data));
    }
  }

  /// `word`: the one offered, nullptr if s_axis_tvalid_i is low. `ready`: m_axis_tready_i.
  void step(const Word* word, bool ready) {
    // What each offered before the edge.
    const bool taken = word && this->ready(), room = values_.ready() || dropping_, expand_ready = expand_.ready();
    const bool decoded = decode_.valid(), given = with_runs ? expand_.valid() : decoded;
    const Beat byte{decode_.beat().value, decode_.beat().last, decode_.beat().fault, decode_.beat().empty};
    Beat value = with_runs ? expand_.beat() : byte;

    const bool keep = given && !dropping_, full = count_ == numbers_.data();
    const bool finish = keep && values_.ready() && (value.last || full);
    if (given && room) {
      if (dropping_) {
        dropping_ = !value.last;
      } else {
        dropping_ = full && !value.last;
        count_ = finish ? 0 : count_ + 1;
      }
    }
    value.fault |= value.last != full;
    value.last |= full;
    values_.step(keep ? &value : nullptr, ready);
    numbers_.step(taken && first_ ? &word->number : nullptr, finish);
    if (with_runs) expand_.step(decoded ? &byte : nullptr, room);
    typename Decode::Word swapped{0, word && word->last};
    for (unsigned b = 0; word && b < width / 8; ++b) swapped.bits = swapped.bits << 8 | (word->bits >> 8 * b & 0xFF);
    decode_.step(taken ? &swapped : nullptr, with_runs ? expand_ready : room);
    if (taken) first_ = word->last;
  }

 private:
  Fifo2Core<std::uint32_t> numbers_;
  Decode decode_;
  ZeroExpandCore expand_;
  Fifo2Core<Beat> values_;
  bool first_ = true, dropping_ = false;
  std::uint32_t count_ = 0;
};

}  // namespace narrowgauge::systemc
