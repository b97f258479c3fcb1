// SPDX-License-Identifier: Apache-2.0
// A tile of bytes as a string of bits, which is what the hardware makes and takes (docs/codec.md, A tile).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "narrowgauge/codec/bits.hpp"
#include "narrowgauge/codec/huffman.hpp"

namespace narrowgauge {

inline constexpr std::size_t codec_block = 64;  ///< values of every block of a tile but its last, which may have fewer

/// A block is written as it is if a value has no code, or if its codes are longer.
bool block_is_raw(std::span<const std::uint8_t> values, std::span<const EncoderEntry, huffman_symbols> table);

/// The tile's bits, padded with zeros to a multiple of `word_bits`, itself a multiple of 8. Throws Error for no values.
std::vector<std::uint8_t> encode_tile(std::span<const std::uint8_t> values,
                                      std::span<const EncoderEntry, huffman_symbols> table, unsigned word_bits = 32);

enum class TileFault : std::uint8_t {
  none,
  broken,    ///< bits that are no code, or an end within a value
  too_long,  ///< whole words behind the last value
};
/// What a decoder makes of any bytes.
struct DecodedTile {
  std::vector<std::uint8_t> values;  ///< those before the fault, if there is one
  TileFault fault = TileFault::none;
};
/// `bytes`: words of `word_bits`. Reads nothing beyond them. With `most`, a tile with more values is broken there.
DecodedTile decode_tile(std::span<const std::uint8_t> bytes, const DecoderTable& table, unsigned word_bits = 32,
                        std::optional<std::size_t> most = {});

}  // namespace narrowgauge
