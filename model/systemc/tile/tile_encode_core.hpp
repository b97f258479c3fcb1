// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_encode.sv.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/codec/tile_encode.hpp"
#include "systemc/codec/bit_pack_core.hpp"
#include "systemc/codec/huffman_encode_core.hpp"
#include "systemc/prim/fifo2_core.hpp"
#include "systemc/prim/fifo_core.hpp"

namespace narrowgauge::systemc {

/// Stream words of `parts` words of 32 bits. Outputs are functions of the state; step() is a clock edge. The table is
/// not reset.
template <int parts, int encoders>
class TileEncodeCore {
  static_assert(parts >= 1 && parts <= 63 && encoders >= 1 && encoders <= 8,
                "TileEncodeCore: 1 to 63 words of 32 bits, 1 to 8 encoders");

 public:
  struct Word {
    std::array<std::uint32_t, parts> data{};  ///< lowest first
    bool last = false;
  };

  void reset() {
    for (Lane& lane : lanes_) {
      lane.in.reset();
      lane.encode.reset();
      lane.pack.reset();
      lane.out.reset();
      lane.sizes.reset();
      lane.byte = lane.size = 0;
    }
    finals_.reset();
    dealt_ = deal_ = take_ = fill_ = 0;
    head_ = true;
    final_ = false;
    held_ = {};
  }

  bool ready() const { return lanes_[deal_].in.ready() && finals_.ready(); }
  bool valid() const { return final_ || fill_ >= parts; }
  std::span<const std::uint32_t, parts> data() const { return std::span(held_).template first<parts>(); }
  bool last() const { return final_ && fill_ <= parts; }

  /// An access of the table's port.
  void load(std::uint8_t address, std::uint16_t data) {
    for (Lane& lane : lanes_) lane.encode.load(address, data);
  }

  /// `word`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Word* word, bool ready) {
    const bool push = word && this->ready(), chunk_last = push && (word->last || dealt_ == chunk_words - 1);
    const bool sent = valid() && ready, over = last();
    const bool room = !valid() || (ready && (!final_ || over));
    const Lane& from = lanes_[take_];
    const bool take = room && (head_ ? from.sizes.valid() : from.out.valid());
    const bool finish = take && !head_ && left_ <= take_words, final_chunk = finish && finals_.data();
    const Entry taken = head_ ? Entry{from.sizes.data()} : from.out.data();
    const std::size_t count = !take ? 0 : head_ ? 1 : std::min<std::size_t>(left_, take_words);

    for (std::size_t e = 0; e < encoders; ++e) {
      const Chunk chunk{push ? word->data : std::array<std::uint32_t, parts>{}, chunk_last};
      lanes_[e].step(push && e == deal_ ? &chunk : nullptr, take && head_ && e == take_, take && !head_ && e == take_);
    }
    const bool is_final = push && word->last;
    finals_.step(chunk_last ? &is_final : nullptr, finish);
    if (push) {
      dealt_ = chunk_last ? 0 : dealt_ + 1;
      if (chunk_last) deal_ = (deal_ + 1) % encoders;
    }

    if (sent) {
      const std::uint32_t beyond = fill_ > parts ? held_.back() : 0;
      held_ = {beyond};
      fill_ = fill_ > parts ? 1 : 0;
      if (over) final_ = false;
    }
    for (std::size_t i = 0; i < count; ++i) held_[fill_++] = taken[i];
    if (take) {
      left_ = head_ ? taken[0] : left_ - static_cast<std::uint32_t>(count);
      head_ = finish;
    }
    if (finish) {
      take_ = (take_ + 1) % encoders;
      final_ = final_chunk;
    }
  }

 private:
  static constexpr std::size_t take_words = parts >= 2 ? 2 : 1;
  static constexpr std::size_t chunk_words = streamed_chunk(4 * parts) / (4 * parts);
  static constexpr int in_depth = encoders > 1 ? std::max(2, static_cast<int>(std::bit_ceil(chunk_words))) : 2;
  static constexpr int final_depth = 4 * static_cast<int>(std::bit_ceil(static_cast<unsigned>(encoders)));

  struct Chunk {
    std::array<std::uint32_t, parts> data{};
    bool last = false;
  };
  using Entry = std::array<std::uint32_t, take_words>;
  using Pack = BitPackCore<32, 14>;

  struct Lane {
    FifoCore<Chunk, in_depth, (in_depth > 2)> in;
    HuffmanEncodeCore encode;
    Pack pack;
    FifoCore<Entry, 128 / take_words, true> out;
    Fifo2Core<std::uint32_t> sizes;
    std::size_t byte = 0;
    std::uint32_t size = 0;  ///< words of the chunk that have come
    std::uint32_t low = 0;

    void step(const Chunk* word, bool size_taken, bool words_taken) {
      const bool room = out.ready() && sizes.ready();
      Entry entry{};
      std::uint32_t whole_size = 0;
      bool put = false, ended = false;
      if (pack.valid() && room) {
        const auto bits = static_cast<std::uint32_t>(pack.word().bits);
        const std::uint32_t bytes = bits << 24 | (bits & 0xFF00) << 8 | (bits >> 8 & 0xFF00) | bits >> 24;
        ended = pack.word().last;
        whole_size = size + 1;
        put = ended || whole_size % take_words == 0;
        entry.back() = bytes;
        if (size % take_words == 0) low = bytes;
        entry.front() = low;
        size = ended ? 0 : whole_size;
      }
      const Pack::Code code{encode.code().bits, encode.code().length, encode.code().last};
      const bool code_taken = pack.ready();
      pack.step(encode.valid() ? &code : nullptr, room);
      const Chunk& head = in.data();
      const bool offered = in.valid(), value_taken = offered && encode.ready(), word_end = byte == 4 * parts - 1;
      const HuffmanEncodeCore::Value value{static_cast<std::uint8_t>(head.data[byte / 4] >> byte % 4 * 8),
                                           head.last && word_end};
      encode.step(offered ? &value : nullptr, code_taken);
      if (value_taken) byte = word_end ? 0 : byte + 1;
      in.step(word, value_taken && word_end);
      out.step(put ? &entry : nullptr, words_taken);
      sizes.step(ended ? &whole_size : nullptr, size_taken);
    }
  };

  std::array<Lane, encoders> lanes_{};
  FifoCore<bool, final_depth> finals_;
  std::size_t dealt_ = 0, deal_ = 0, take_ = 0, fill_ = 0;
  std::uint32_t left_ = 0;
  bool head_ = true, final_ = false;
  std::array<std::uint32_t, parts + take_words - 1> held_{};  ///< zeros behind the words
};

}  // namespace narrowgauge::systemc
