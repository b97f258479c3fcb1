// SPDX-License-Identifier: Apache-2.0
// The pair of FIFOs between a processor and the streams of a tile, without time: what ng_axil_fifos is behind its bus,
// and what ng_uart_bridge has at the same offsets. Registers are those of firmware/ports/ng_fifo_port.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge::board {

/// Byte offsets.
enum FifoRegister : std::uint32_t {
  fifo_tx_data = 0x00,
  fifo_tx_last = 0x04,
  fifo_tx_space = 0x08,
  fifo_tx_count = 0x0C,
  fifo_rx_data = 0x10,
  fifo_rx_count = 0x14,
  fifo_clear = 0x18
};

class AxilFifos {
 public:
  /// Bytes of a stream word, a multiple of 4; bytes that wait, powers of two from 16 on. Anything else is an Error.
  AxilFifos(unsigned stream_bytes, unsigned tx_bytes, unsigned rx_bytes)
      : words_(stream_bytes / 4), tx_words_(tx_bytes / 4), rx_words_(rx_bytes / 4) {
    if (stream_bytes == 0 || stream_bytes % 4 != 0) {
      throw Error("stream words of " + std::to_string(stream_bytes) + " bytes; expected a multiple of 4");
    }
    for (const unsigned bytes : {tx_bytes, rx_bytes}) {
      if (bytes < 16 || (bytes & (bytes - 1)) != 0) {
        throw Error("a FIFO of " + std::to_string(bytes) + " bytes; expected a power of two, 16 or more");
      }
    }
    if (rx_bytes < stream_bytes) {
      throw Error("a FIFO of " + std::to_string(rx_bytes) + " bytes; expected a stream word or more, " +
                  std::to_string(stream_bytes));
    }
  }

  // ---- the processor's side: false where an access is refused (SLVERR)

  bool write(std::uint32_t offset, std::uint32_t value) {
    switch (offset) {
      case fifo_tx_data:
      case fifo_tx_last:
        if (space() == 0) return false;
        tx_.push_back({value, offset == fifo_tx_last});
        assemble();
        return true;
      case fifo_clear:
        tx_.clear();
        rx_.clear();
        out_.clear();
        ended_ = false;
        return true;
      default:
        return false;
    }
  }
  bool read(std::uint32_t offset, std::uint32_t& value) {
    switch (offset) {
      case fifo_tx_space:
        value = space();
        return true;
      case fifo_tx_count:
        value = static_cast<std::uint32_t>(tx_.size() + !out_.empty());
        return true;
      case fifo_rx_count:
        value = arrived();
        return true;
      case fifo_rx_data:
        if (rx_.empty()) return false;
        value = rx_.front();
        rx_.pop_front();
        return true;
      default:
        return false;
    }
  }
  /// Words that may be written.
  std::uint32_t space() const { return tx_words_ - static_cast<std::uint32_t>(tx_.size()); }
  /// Words that may be read.
  std::uint32_t arrived() const { return static_cast<std::uint32_t>(rx_.size()); }

  // ---- the tile's side

  /// A stream word of operands is there: word() and last() until leave().
  bool offers() const { return words_ == 1 ? !tx_.empty() : out_.size() == words_; }
  /// Words of 32 bits, the first one lowest. A stream word of one is in its queue until it leaves; of several it is put
  /// together in front of the tile, filled with zeros behind the end of a packet.
  std::vector<std::uint32_t> word() const { return words_ == 1 ? std::vector{tx_.front().value} : out_; }
  bool last() const { return words_ == 1 ? tx_.front().last : ended_; }
  void leave() {
    if (words_ == 1) {
      tx_.pop_front();
    } else {
      out_.clear();
      ended_ = false;
      assemble();
    }
  }
  /// A stream word of results has room.
  bool takes() const { return rx_words_ - rx_.size() >= words_; }
  void come(std::span<const std::uint32_t> word) { rx_.insert(rx_.end(), word.begin(), word.end()); }

 private:
  struct Operand {
    std::uint32_t value;
    bool last;
  };
  void assemble() {
    if (words_ == 1) return;
    for (; out_.size() < words_ && !ended_ && !tx_.empty(); tx_.pop_front()) {
      out_.push_back(tx_.front().value);
      ended_ = tx_.front().last;
    }
    if (ended_) out_.resize(words_);
  }

  unsigned words_, tx_words_, rx_words_;
  std::deque<Operand> tx_;
  std::deque<std::uint32_t> rx_;
  std::vector<std::uint32_t> out_;  ///< as far as it is put together
  bool ended_ = false;
};

}  // namespace narrowgauge::board
