// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/codec/tile_stream.hpp"

#include <algorithm>

#include "narrowgauge/error.hpp"

namespace narrowgauge {

bool block_is_raw(std::span<const std::uint8_t> values, std::span<const EncoderEntry, huffman_symbols> table) {
  std::size_t bits = 0;
  for (const std::uint8_t value : values) {
    if (table[value].length == 0) return true;
    bits += table[value].length;
  }
  return bits > 8 * values.size();
}

std::vector<std::uint8_t> encode_tile(std::span<const std::uint8_t> values,
                                      std::span<const EncoderEntry, huffman_symbols> table, unsigned word_bits) {
  if (values.empty()) throw Error("a tile has no values; expected one or more");
  BitWriter writer;
  for (std::size_t at = 0; at < values.size(); at += codec_block) {
    const auto block = values.subspan(at, std::min(codec_block, values.size() - at));
    const bool raw = block_is_raw(block, table), last = at + block.size() == values.size();
    writer.put(raw, 1);
    writer.put(last, 1);
    if (last) writer.put(static_cast<std::uint32_t>(block.size() - 1), 6);
    for (const std::uint8_t value : block) {
      const EncoderEntry& entry = table[value];
      writer.put(raw ? value : static_cast<std::uint32_t>(entry.code >> (huffman_bits - entry.length)),
                 raw ? 8 : entry.length);
    }
  }
  return writer.finish(word_bits);
}

DecodedTile decode_tile(std::span<const std::uint8_t> bytes, const DecoderTable& table, unsigned word_bits,
                        std::optional<std::size_t> most) {
  DecodedTile tile;
  BitReader reader(bytes);
  for (bool last = false; !last;) {
    const bool raw = reader.take(1) != 0;
    last = reader.take(1) != 0;
    const std::size_t count = last ? reader.take(6) + 1 : codec_block;
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned window = reader.peek(huffman_bits);
      const Decoded decoded = raw ? Decoded{8, static_cast<std::uint8_t>(window >> 4)} : decode_window(table, window);
      reader.skip(decoded.length);
      if (decoded.length == 0 || reader.overrun() || (most && tile.values.size() == *most)) {
        tile.fault = TileFault::broken;
        return tile;
      }
      tile.values.push_back(decoded.symbol);
    }
  }
  const std::size_t words = (reader.position() + word_bits - 1) / word_bits;
  if (words * word_bits != bytes.size() * 8) tile.fault = TileFault::too_long;
  return tile;
}

}  // namespace narrowgauge
