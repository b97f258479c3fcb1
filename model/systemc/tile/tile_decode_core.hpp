// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_decode.sv.
#pragma once

#include <array>
#include <cstdint>

#include "systemc/codec/huffman_decode_core.hpp"
#include "systemc/prim/fifo_core.hpp"

namespace narrowgauge::systemc {

/// Stream words of `parts` words of 32 bits. Outputs are functions of the state; step() is a clock edge. The table is
/// not reset.
template <int parts, int decoders>
class TileDecodeCore {
  static_assert(parts >= 1 && decoders >= 1 && decoders <= 8, "TileDecodeCore: 1 to 8 decoders");

 public:
  struct Word {
    std::array<std::uint32_t, parts> data{};  ///< lowest first
    bool last = false;
  };

  void reset() {
    for (Lane& lane : lanes_) {
      lane.in.reset();
      lane.decode.reset();
      lane.out.reset();
      lane.count = lane.at = 0;
    }
    step_ = deal_ = fill_ = take_ = 0;
    chunks_ = 0;
    head_ = true;
    ended_ = broken_ = full_ = fault_ = false;
  }

  bool ready() const { return fault_ || (go() && step_ == steps - 1); }
  bool valid() const { return full_ && !fault_ && (lanes_[take_].out.valid() || over() || (finish() && !broken_)); }
  const std::array<std::uint32_t, parts>& data() const { return data_; }
  bool last() const { return finish() && !over(); }
  bool fault() const { return fault_; }

  /// An access of the table's port.
  void load(unsigned address, std::uint32_t data) {
    for (Lane& lane : lanes_) lane.decode.load(address, data);
  }

  /// `word`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Word* word, bool ready) {
    const bool sent = valid() && ready, finish = this->finish(), over = this->over();
    const std::size_t from = take_;
    const bool take = lanes_[from].out.valid() && (!full_ || sent) && !fault_;
    const Values taken = lanes_[from].out.data();

    // What is dealt: words of one chunk, with a head before or behind them.
    const bool go = word && this->go(), packet_last = go && word->last && step_ == steps - 1;
    Codes codes;
    bool headed = false;  // the last one is a head
    for (std::size_t i = 0; go && i < take_words && step_ * take_words + i < parts; ++i) {
      const std::uint32_t bits = word->data[step_ * take_words + i];
      headed = head_ && (bits & 0xFFFF) != 0;
      if (head_) {
        left_ = bits & 0xFFFF;
      } else {
        codes.bits[codes.count++] = bits;
        codes.last = --left_ == 0;
      }
      head_ = left_ == 0;
    }
    const bool push = codes.count > 0;
    if (packet_last) {
      codes.last |= push;
      broken_ |= headed;
      head_ = ended_ = true;
    }
    for (std::size_t d = 0; d < decoders; ++d) lanes_[d].step(push && d == deal_ ? &codes : nullptr, take && d == from);
    if (codes.last) {
      deal_ = deal_ == decoders - 1 ? 0 : deal_ + 1;
      ++chunks_;
    }
    if (go) step_ = step_ == steps - 1 ? 0 : step_ + 1;

    // And taken. A word before a bad one is given first where it fills a stream word.
    const bool spill = taken.count == 2 && fill_ == parts - 1;
    fault_ |=
        (take && taken.bad && !spill) || (sent && over && beyond_bad_) || (finish && !over && (broken_ || !full_));
    if (sent && over) data_[0] = beyond_;
    full_ = full_ && !sent;
    for (std::size_t i = 0; take && i < taken.count; ++i) {
      (full_ ? beyond_ : data_[fill_]) = taken.bits[i];
      full_ |= fill_ == parts - 1;
      fill_ = fill_ == parts - 1 ? 0 : fill_ + 1;
    }
    if (take) beyond_bad_ = taken.bad;
    if (take && taken.last) {
      take_ = take_ == decoders - 1 ? 0 : take_ + 1;
      --chunks_;
    }
    if (sent && finish && !over) ended_ = false;
  }

 private:
  static constexpr std::size_t take_words = decoders > 4 && parts >= 2 ? 2 : 1;  // words of 32 bits a cycle
  static constexpr std::size_t steps = (parts + take_words - 1) / take_words;    // in which a stream word is dealt

  using Entry = std::array<std::uint32_t, take_words>;
  struct Codes {
    Entry bits{};
    std::size_t count = 0;
    bool last = false;
  };
  struct Values {
    Entry bits{};
    std::size_t count = 0;
    bool last = false, bad = false;  ///< bad: the last word is
  };
  static constexpr int queue_depth = parts % take_words == 0 ? 64 / take_words : 64;

  struct Lane {
    FifoCore<Codes, queue_depth, true> in;
    HuffmanDecodeCore<32> decode;
    FifoCore<Values, queue_depth, true> out;
    Entry values{};
    std::size_t count = 0, at = 0;  ///< values of the entry that have come, words of one that have been decoded

    void step(const Codes* codes, bool taken) {
      const bool room = out.ready();
      Values entry;
      bool push = false;
      if (decode.valid() && room) {
        const auto& beat = decode.beat();
        std::uint32_t& word = values[count / 4];
        word = word >> 8 | static_cast<std::uint32_t>(beat.value) << 24;
        entry = {values, count / 4 + 1, beat.last, beat.fault || count % 4 != 3};
        push = count == 4 * take_words - 1 || beat.last;
        count = (count + 1) % (beat.last ? 4 : 4 * take_words);
      }
      const Codes& head = in.data();
      const bool end = at + 1 == head.count, word_taken = in.valid() && decode.ready();
      const typename HuffmanDecodeCore<32>::Word next{swapped(head.bits[at]), head.last && end};
      decode.step(in.valid() ? &next : nullptr, room);
      if (word_taken) at = end ? 0 : at + 1;
      in.step(codes, word_taken && end);
      out.step(push ? &entry : nullptr, taken);
    }
  };

  static std::uint32_t swapped(std::uint32_t bits) {
    return bits << 24 | (bits & 0xFF00) << 8 | (bits >> 8 & 0xFF00) | bits >> 24;
  }
  bool go() const { return !ended_ && ((take_words == 1 && head_) || lanes_[deal_].in.ready()); }
  bool finish() const { return ended_ && chunks_ == 0; }
  bool over() const { return take_words == 2 && full_ && fill_ == 1; }  // a word is held behind the stream word

  std::array<Lane, decoders> lanes_{};
  std::size_t step_ = 0, deal_ = 0, fill_ = 0, take_ = 0;
  std::uint32_t left_ = 0, chunks_ = 0, beyond_ = 0;
  bool head_ = true, ended_ = false, broken_ = false, full_ = false, fault_ = false, beyond_bad_ = false;
  std::array<std::uint32_t, parts> data_{};
};

}  // namespace narrowgauge::systemc
