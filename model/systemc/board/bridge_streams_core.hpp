// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/board/ng_bridge_streams.sv.
#pragma once

#include <array>
#include <cstdint>

#include "narrowgauge/board/link_frame.hpp"
#include "systemc/prim/fifo_core.hpp"

namespace narrowgauge::systemc {

template <unsigned stream_bytes, unsigned tx_bytes, unsigned rx_bytes>
class BridgeStreamsCore {
 public:
  using Word = std::array<std::uint32_t, stream_bytes / 4>;
  struct TxWord {
    std::uint32_t data = 0;
    bool last = false;
  };

  void reset() {
    tx_.reset();
    rx_.reset();
    filled_ = left_ = words_ = 0;
    ended_ = false;
    hash_ = 0;
  }
  unsigned tx_space() const { return static_cast<unsigned>(tx_.space()); }
  bool tx_partial() const { return filled_ != 0; }
  bool out_valid() const { return same ? tx_.valid() : filled_ == words; }
  bool out_last() const { return same ? tx_.data().last : ended_; }
  Word out() const { return same ? Word{tx_.data().data} : out_; }
  bool in_ready(bool sink) const { return sink || (left_ == 0 && static_cast<unsigned>(rx_.space()) >= words); }
  bool rx_valid() const { return rx_.valid(); }
  std::uint32_t rx_data() const { return rx_.data(); }
  unsigned rx_words() const { return same ? rx_bytes / 4 - static_cast<unsigned>(rx_.space()) : words_; }
  std::uint32_t hash() const { return hash_; }

  /// `written`: tx_data_i, nullptr if tx_valid_i is low; `word`: s_axis_tdata_i, nullptr likewise.
  void step(bool flush, const TxWord* written, bool out_ready, const Word* word, bool sink, bool clear_hash,
            bool rx_ready) {
    if (clear_hash) {
      hash_ = 0;
    } else if (word && sink) {
      for (const std::uint32_t value : *word) hash_ = board::result_hash_next(hash_, value);
    }
    if constexpr (same) {
      const std::uint32_t came = word ? (*word)[0] : 0;
      tx_.step(written, out_ready, flush);
      rx_.step(word && !sink ? &came : nullptr, rx_ready, flush);
      return;
    }
    // operands
    const bool take = !out_valid() && !ended_, came = tx_.valid();
    const TxWord next = tx_.data();
    const bool leaves = out_valid() && out_ready, fills = !out_valid() && (came || ended_);
    if (fills) {
      for (unsigned i = 0; i + 1 < words; ++i) out_[i] = out_[i + 1];
      out_.back() = ended_ ? 0 : next.data;
    }
    if (flush || leaves) {
      filled_ = 0;
      ended_ = false;
    } else if (fills) {
      ++filled_;
      ended_ = ended_ || next.last;
    }
    tx_.step(written, take, flush);
    // results
    const bool push = left_ != 0, accept = word && in_ready(sink) && !sink;
    const bool reads = rx_ready && words_ != 0;  // not of a stream word that still comes
    const bool taken = rx_.valid() && reads;
    words_ = flush ? 0 : words_ + (left_ == 1 ? words : 0) - taken;
    const std::uint32_t lowest = word_[0];
    left_ = flush ? 0 : accept ? words : left_ - push;
    if (accept) {
      word_ = *word;
    } else {
      for (unsigned i = 0; i + 1 < words; ++i) word_[i] = word_[i + 1];
    }
    rx_.step(push ? &lowest : nullptr, reads, flush);
  }

 private:
  static constexpr unsigned words = stream_bytes / 4;
  static constexpr bool same = words == 1;
  FifoCore<TxWord, static_cast<int>(tx_bytes / 4), true> tx_;
  FifoCore<std::uint32_t, static_cast<int>(rx_bytes / 4), true> rx_;
  Word out_{}, word_{};
  unsigned filled_ = 0, left_ = 0, words_ = 0;
  bool ended_ = false;
  std::uint32_t hash_ = 0;
};

}  // namespace narrowgauge::systemc
