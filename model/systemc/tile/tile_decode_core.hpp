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
  static_assert(parts >= 1 && decoders >= 1 && decoders <= 4, "TileDecodeCore: 1 to 4 decoders");

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
      lane.count = 0;
    }
    part_ = deal_ = fill_ = take_ = 0;
    chunks_ = 0;
    head_ = true;
    ended_ = broken_ = full_ = fault_ = false;
  }

  bool ready() const { return fault_ || (go() && part_ == parts - 1); }
  bool valid() const { return full_ && !fault_ && (lanes_[take_].out.valid() || (finish() && !broken_)); }
  const std::array<std::uint32_t, parts>& data() const { return data_; }
  bool last() const { return finish(); }
  bool fault() const { return fault_; }

  /// An access of the table's port.
  void load(unsigned address, std::uint32_t data) {
    for (Lane& lane : lanes_) lane.decode.load(address, data);
  }

  /// `word`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Word* word, bool ready) {
    const bool sent = valid() && ready, finish = this->finish();
    const std::size_t from = take_;
    const bool take = lanes_[from].out.valid() && (!full_ || sent) && !fault_;
    const Values taken = lanes_[from].out.data();

    // What is dealt.
    const bool go = word && this->go(), push = go && !head_, packet_last = go && word->last && part_ == parts - 1;
    const std::uint32_t bits = go ? word->data[part_] : 0;
    const bool chunk_last = left_ == 1 || packet_last;
    const Code code{bits, chunk_last};
    for (std::size_t d = 0; d < decoders; ++d) lanes_[d].step(push && d == deal_ ? &code : nullptr, take && d == from);
    if (push && chunk_last) {
      deal_ = deal_ == decoders - 1 ? 0 : deal_ + 1;
      ++chunks_;
    }

    // And taken.
    if ((take && taken.bad) || (finish && (broken_ || !full_))) fault_ = true;
    full_ = full_ && !sent;
    if (take) {
      data_[fill_] = taken.bits;
      full_ |= fill_ == parts - 1;
      fill_ = fill_ == parts - 1 ? 0 : fill_ + 1;
      if (taken.last) {
        take_ = take_ == decoders - 1 ? 0 : take_ + 1;
        --chunks_;
      }
    }
    if (go) {
      if (head_ && packet_last && (bits & 0xFFFF) != 0) broken_ = true;
      left_ = head_ ? bits & 0xFFFF : left_ - 1;
      head_ = head_ ? left_ == 0 || packet_last : chunk_last;
      part_ = part_ == parts - 1 ? 0 : part_ + 1;
      if (packet_last) ended_ = true;
    }
    if (sent && finish) ended_ = false;
  }

 private:
  struct Code {
    std::uint32_t bits = 0;
    bool last = false;
  };
  struct Values {
    std::uint32_t bits = 0;
    bool last = false, bad = false;
  };
  static constexpr int queue_depth = 64;

  struct Lane {
    FifoCore<Code, queue_depth, true> in;
    HuffmanDecodeCore<32> decode;
    FifoCore<Values, queue_depth, true> out;
    std::uint32_t values = 0;
    unsigned count = 0;

    void step(const Code* code, bool taken) {
      const bool room = out.ready();
      Values word;
      bool push = false;
      if (decode.valid() && room) {
        const auto& beat = decode.beat();
        values = values >> 8 | static_cast<std::uint32_t>(beat.value) << 24;
        word = {values, beat.last, beat.fault || count != 3};
        push = count == 3 || beat.last;
        count = push ? 0 : count + 1;
      }
      const Code& head = in.data();
      const typename HuffmanDecodeCore<32>::Word next{swapped(head.bits), head.last};
      const bool pop = decode.ready();
      decode.step(in.valid() ? &next : nullptr, room);
      in.step(code, pop);
      out.step(push ? &word : nullptr, taken);
    }
  };

  static std::uint32_t swapped(std::uint32_t bits) {
    return bits << 24 | (bits & 0xFF00) << 8 | (bits >> 8 & 0xFF00) | bits >> 24;
  }
  bool go() const { return !ended_ && (head_ || lanes_[deal_].in.ready()); }
  bool finish() const { return ended_ && chunks_ == 0; }

  std::array<Lane, decoders> lanes_{};
  std::size_t part_ = 0, deal_ = 0, fill_ = 0, take_ = 0;
  std::uint32_t left_ = 0, chunks_ = 0;
  bool head_ = true, ended_ = false, broken_ = false, full_ = false, fault_ = false;
  std::array<std::uint32_t, parts> data_{};
};

}  // namespace narrowgauge::systemc
