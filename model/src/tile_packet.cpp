// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/codec/tile_packet.hpp"

#include <algorithm>
#include <string>

#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge {

namespace {

constexpr std::size_t word_bytes = 4;

void check_words(std::size_t bytes, std::size_t stream_bytes) {
  if (stream_bytes == 0 || stream_bytes % word_bytes != 0 || bytes == 0 || bytes % stream_bytes != 0) {
    throw Error("a packet of " + std::to_string(bytes) + " bytes in stream words of " + std::to_string(stream_bytes) +
                "; expected whole stream words, one or more, of a multiple of 4 bytes");
  }
}

}  // namespace

std::vector<std::uint8_t> encode_packet(std::span<const std::uint8_t> bytes,
                                        std::span<const EncoderEntry, huffman_symbols> table,
                                        std::size_t stream_bytes) {
  check_words(bytes.size(), stream_bytes);
  const auto quotient_up = [](std::size_t x, std::size_t y) { return (x + y - 1) / y; };
  const std::size_t rounds = quotient_up(bytes.size(), packet_decoders * packet_chunk);
  const std::size_t chunks = std::clamp(bytes.size() / (packet_chunk / 2), std::size_t{1}, rounds * packet_decoders);
  const std::size_t size = quotient_up(quotient_up(bytes.size(), chunks), word_bytes) * word_bytes;
  std::vector<std::uint8_t> packet;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const auto chunk = encode_tile(bytes.subspan(at, std::min(size, bytes.size() - at)), table);
    const std::size_t words = chunk.size() / word_bytes;
    packet.insert(packet.end(), {static_cast<std::uint8_t>(words), static_cast<std::uint8_t>(words >> 8), 0, 0});
    packet.insert(packet.end(), chunk.begin(), chunk.end());
  }
  while (packet.size() % stream_bytes != 0) packet.push_back(0);
  return packet;
}

DecodedPacket decode_packet(std::span<const std::uint8_t> packet, const DecoderTable& table, std::size_t stream_bytes) {
  check_words(packet.size(), stream_bytes);
  DecodedPacket out;
  // Ends with the whole stream words behind which something comes.
  const auto broken = [&](bool follows) {
    const bool whole = out.bytes.size() % stream_bytes == 0;
    out.bytes.resize(out.bytes.size() / stream_bytes * stream_bytes);
    if (whole && !follows && !out.bytes.empty()) out.bytes.resize(out.bytes.size() - stream_bytes);
    out.fault = true;
    return out;
  };
  for (std::size_t at = 0; at < packet.size();) {
    const std::size_t words = packet[at] | static_cast<std::size_t>(packet[at + 1]) << 8;
    at += word_bytes;
    if (words == 0) continue;
    if (at == packet.size()) return broken(false);
    const std::size_t size = std::min(words * word_bytes, packet.size() - at);
    const DecodedTile chunk = decode_tile(packet.subspan(at, size), table);
    at += size;
    std::size_t good = chunk.values.size() / word_bytes;  // words of 32 bits before the one with the fault
    const bool fault = chunk.fault != TileFault::none || chunk.values.size() % word_bytes != 0;
    if (chunk.fault == TileFault::too_long && chunk.values.size() % word_bytes == 0) --good;
    out.bytes.insert(out.bytes.end(), chunk.values.begin(),
                     chunk.values.begin() + static_cast<std::ptrdiff_t>(good * word_bytes));
    if (fault) return broken(true);
  }
  if (out.bytes.empty() || out.bytes.size() % stream_bytes != 0) return broken(false);
  return out;
}

}  // namespace narrowgauge
