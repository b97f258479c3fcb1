// SPDX-License-Identifier: Apache-2.0
// Packets of compressed operands, which ng_tile_decode expands (docs/codec.md, Operands of the tile).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/codec/huffman.hpp"

namespace narrowgauge {

inline constexpr std::size_t packet_chunk = 256;   ///< values of the longest chunk that encode_packet makes
inline constexpr std::size_t packet_decoders = 4;  ///< of which it tries to give each the same number of chunks

/// `bytes` as chunks of like length, of 128 values or more where there are so many, padded with zeros to whole stream
/// words of `stream_bytes`. Throws Error for no bytes, for a number of them that is no multiple of `stream_bytes`, and
/// for `stream_bytes` that are no multiple of 4.
std::vector<std::uint8_t> encode_packet(std::span<const std::uint8_t> bytes,
                                        std::span<const EncoderEntry, huffman_symbols> table, std::size_t stream_bytes);

/// What ng_tile_decode makes of any stream words.
struct DecodedPacket {
  std::vector<std::uint8_t> bytes;  ///< whole stream words: those that it gives before the fault, if there is one
  bool fault = false;
};
/// `packet`: whole stream words. Reads nothing beyond them. Throws Error where it has a part of one.
DecodedPacket decode_packet(std::span<const std::uint8_t> packet, const DecoderTable& table, std::size_t stream_bytes);

}  // namespace narrowgauge
