// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/codec/ng_map_encode.sv.
#pragma once

#include <cstdint>

#include "systemc/codec/bit_pack_core.hpp"
#include "systemc/codec/huffman_encode_core.hpp"
#include "systemc/codec/zero_runs_core.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Words of `width` bits; `with_runs`: zeros are shortened. Outputs are functions of the state; step() is a clock edge.
/// Tables are not reset.
template <unsigned width, bool with_runs>
class MapEncodeCore {
  using Pack = BitPackCore<width, 14>;

 public:
  using Value = ZeroRunsCore::Value;
  struct Word {
    std::uint64_t bits = 0;  ///< the first byte lowest
    bool last = false;
  };

  void reset() {
    runs_.reset();
    encode_.reset();
    codes_.reset();
    pack_.reset();
  }

  bool ready() const { return with_runs ? runs_.ready() : encode_.ready(); }
  bool valid() const { return pack_.valid(); }
  Word word() const {
    Word word{0, pack_.word().last};
    for (unsigned byte = 0; byte < width / 8; ++byte)
      word.bits = word.bits << 8 | (pack_.word().bits >> 8 * byte & 0xFF);
    return word;
  }

  /// An access of the table's port.
  void load(unsigned address, std::uint16_t data) {
    if (address < huffman_symbols) {
      encode_.load(static_cast<std::uint8_t>(address), data);
    } else {
      runs_.load(address % 8, static_cast<std::uint8_t>(data));
    }
  }

  /// `value`: the one offered, nullptr if s_axis_tvalid_i is low. `ready`: m_axis_tready_i.
  void step(const Value* value, bool ready) {
    // What each offered before the edge.
    const bool pack_ready = pack_.ready(), codes_ready = codes_.ready(), encode_ready = encode_.ready();
    const bool held = codes_.valid(), coded = encode_.valid(), shortened = runs_.valid();
    const HuffmanEncodeCore::Code held_code = codes_.data(), code = encode_.code();
    const Value byte = runs_.byte();
    const typename Pack::Code packed{held_code.bits, held_code.length, held_code.last};
    pack_.step(held ? &packed : nullptr, ready);
    codes_.step(coded ? &code : nullptr, pack_ready);
    const Value* next = with_runs ? (shortened ? &byte : nullptr) : value;
    const HuffmanEncodeCore::Value taken =
        next ? HuffmanEncodeCore::Value{next->value, next->last} : HuffmanEncodeCore::Value{0, false};
    encode_.step(next ? &taken : nullptr, codes_ready);
    if (with_runs) runs_.step(value, encode_ready);
  }

 private:
  ZeroRunsCore runs_;
  HuffmanEncodeCore encode_;
  Fifo2Core<HuffmanEncodeCore::Code> codes_;
  Pack pack_;
};

}  // namespace narrowgauge::systemc
