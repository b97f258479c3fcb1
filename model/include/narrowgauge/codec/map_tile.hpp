// SPDX-License-Identifier: Apache-2.0
// A tile of a compressed feature map whole, runs of zeros and codes: what ng_map_encode makes and ng_map_decode takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/codec/zero_runs.hpp"

namespace narrowgauge {

/// The tile's bytes as the file has them, padded to a multiple of `word_bits`. Throws Error for no values.
inline std::vector<std::uint8_t> encode_map_tile(std::span<const std::uint8_t> values,
                                                 std::span<const EncoderEntry, huffman_symbols> table,
                                                 std::span<const std::uint8_t> slots, unsigned word_bits = 32) {
  return encode_tile(shorten_runs(values, slots), table, word_bits);
}

/// What a decoder makes of any bytes that are to be a tile of `count` values.
struct MapTile {
  std::vector<std::uint8_t> values;  ///< `count` at most
  bool broken = false;               ///< it breaks off behind these values, fewer than `count`
  bool fault = false;                ///< it is broken, goes on behind its end, or has another number of values
};
inline MapTile decode_map_tile(std::span<const std::uint8_t> bytes, const DecoderTable& table,
                               std::span<const std::uint8_t> slots, std::size_t count, unsigned word_bits = 32) {
  const DecodedTile decoded = decode_tile(bytes, table, word_bits);
  MapTile tile;
  tile.values = *expand_runs(decoded.values, slots, std::numeric_limits<std::size_t>::max());
  tile.fault = decoded.fault != TileFault::none || tile.values.size() != count;
  tile.broken = decoded.fault == TileFault::broken && tile.values.size() < count;
  if (tile.values.size() > count) tile.values.resize(count);
  return tile;
}

}  // namespace narrowgauge
