// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_results.sv.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "systemc/prim/fifo_core.hpp"
#include "systemc/tile/tile_encode_core.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state and of what the drain offers; step() is a clock edge. The table is not reset.
template <int parts, int encoders>
class TileResultsCore {
  using Encode = TileEncodeCore<parts, encoders>;

 public:
  /// What the drain offers.
  struct In {
    bool valid = false;
    const std::uint32_t* data = nullptr;  ///< `parts` words, lowest first, if valid
    bool last = false, irq = false;
  };

  void reset() {
    encode_.reset();
    packets_.reset();
    inside_ = open_ = compress_ = false;
  }

  bool busy() const { return open_ || packets_.valid(); }
  bool ready(bool out_ready) const { return compress_ ? encode_.ready() && packets_.ready() : out_ready && !busy(); }
  bool valid(const In& in) const { return busy() ? encode_.valid() : in.valid && !compress_; }
  const std::uint32_t* data(const In& in) const { return busy() ? encode_.data().data() : in.data; }
  bool last(const In& in) const { return busy() ? encode_.last() : in.last; }
  bool irq(const In& in) const { return busy() ? packets_.data() : in.irq; }

  /// An access of the table's port.
  void load(std::uint8_t address, std::uint16_t data) { encode_.load(address, data); }

  void step(const In& in, bool compress, bool out_ready) {
    const bool taken = in.valid && ready(out_ready), whole = taken && in.last;
    const bool encoded = taken && compress_, left = busy() && encode_.valid() && out_ready && encode_.last();
    typename Encode::Word word;
    if (encoded) {
      std::copy_n(in.data, parts, word.data.begin());
      word.last = in.last;
    }
    encode_.step(encoded ? &word : nullptr, out_ready);
    packets_.step(encoded && whole ? &in.irq : nullptr, left);
    if (taken) inside_ = !in.last;
    if (encoded) open_ = !in.last;
    if (in.valid ? whole : !inside_) compress_ = compress;
  }

 private:
  Encode encode_;
  FifoCore<bool, 4 * static_cast<int>(std::bit_ceil(static_cast<unsigned>(encoders)))> packets_;  ///< their interrupts
  bool inside_ = false, open_ = false, compress_ = false;
};

}  // namespace narrowgauge::systemc
