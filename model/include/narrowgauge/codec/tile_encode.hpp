// SPDX-License-Identifier: Apache-2.0
// Packets of compressed operands as ng_tile_encode makes them of a stream, before it knows how long that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/codec/huffman.hpp"
#include "narrowgauge/codec/tile_packet.hpp"

namespace narrowgauge {

/// Values of every chunk but a packet's last, which may have fewer: as many whole stream words as packet_chunk has room
/// for. `stream_bytes`: 4 to packet_chunk.
constexpr std::size_t streamed_chunk(std::size_t stream_bytes) { return packet_chunk / stream_bytes * stream_bytes; }

/// `bytes` as chunks of streamed_chunk values, padded with zeros to whole stream words of `stream_bytes`: a packet for
/// decode_packet. encode_packet makes others of the same bytes, since it knows how many they are. Throws Error for no
/// bytes, for a number of them that is no multiple of `stream_bytes`, and for `stream_bytes` that are no multiple of 4
/// up to packet_chunk.
std::vector<std::uint8_t> encode_streamed_packet(std::span<const std::uint8_t> bytes,
                                                 std::span<const EncoderEntry, huffman_symbols> table,
                                                 std::size_t stream_bytes);

}  // namespace narrowgauge
