// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/prim/ng_fifo.sv.
#pragma once

#include <array>
#include <cstddef>

namespace narrowgauge::systemc {

/// Queue of `depth` words of type T, a power of two from 2; `block_ram`: it takes one cycle longer to offer a word that
/// comes when it is empty. Outputs are functions of the state; step() is a clock edge.
template <class T, int depth, bool block_ram = false>
class FifoCore {
  static_assert(depth >= 2 && (depth & (depth - 1)) == 0, "FifoCore: depth must be a power of two, 2 or more");

 public:
  void reset() {
    write_ = read_ = 0;
    written_ = false;
  }

  bool ready() const { return space() != 0; }
  bool valid() const { return write_ != read_ && !written_; }
  const T& data() const { return words_[read_ % depth]; }
  int space() const { return depth - static_cast<int>(write_ - read_); }

  /// `data`: the word offered, nullptr if valid_i is low. `ready`: ready_i. `flush`: flush_i.
  void step(const T* data, bool ready, bool flush = false) {
    const bool push = data && this->ready(), pop = valid() && ready;
    if (pop) ++read_;
    written_ = block_ram && push && write_ == read_;
    if (push) words_[write_++ % depth] = *data;
    if (flush) write_ = read_ = 0;
  }

 private:
  std::array<T, depth> words_{};
  unsigned write_ = 0, read_ = 0;  // words that came and went, modulo a multiple of depth
  bool written_ = false;           // the next word to be offered came in the last cycle and is not read yet
};

}  // namespace narrowgauge::systemc
