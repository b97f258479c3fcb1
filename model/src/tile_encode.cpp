// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/codec/tile_encode.hpp"

#include <algorithm>
#include <string>

#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge {

std::vector<std::uint8_t> encode_streamed_packet(std::span<const std::uint8_t> bytes,
                                                 std::span<const EncoderEntry, huffman_symbols> table,
                                                 std::size_t stream_bytes) {
  if (stream_bytes == 0 || stream_bytes % 4 != 0 || stream_bytes > packet_chunk || bytes.empty() ||
      bytes.size() % stream_bytes != 0) {
    throw Error("a packet of " + std::to_string(bytes.size()) + " bytes in stream words of " +
                std::to_string(stream_bytes) + "; expected whole stream words, one or more, of 4 to " +
                std::to_string(packet_chunk) + " bytes, a multiple of 4");
  }
  const std::size_t size = streamed_chunk(stream_bytes);
  std::vector<std::uint8_t> packet;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const auto chunk = encode_tile(bytes.subspan(at, std::min(size, bytes.size() - at)), table);
    packet.insert(packet.end(), {static_cast<std::uint8_t>(chunk.size() / 4), 0, 0, 0});  // 65 words at most
    packet.insert(packet.end(), chunk.begin(), chunk.end());
  }
  packet.resize((packet.size() + stream_bytes - 1) / stream_bytes * stream_bytes);
  return packet;
}

}  // namespace narrowgauge
