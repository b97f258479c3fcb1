// SPDX-License-Identifier: Apache-2.0
// Packets of compressed loads for benches: whole ones, and broken ones of each kind.
#pragma once

#include <cstdint>
#include <vector>

#include "../codec/codec_stimulus.hpp"
#include "narrowgauge/codec/tile_packet.hpp"
#include "narrowgauge/codec/tile_stream.hpp"

namespace narrowgauge::bench {

/// Values of a packet of chunks of any length, with words to skip between them, in stream words of `stream_bytes`.
inline std::vector<std::uint8_t> loose_packet(Rng& rng, std::span<const std::uint8_t> values,
                                              const CodeLengths& lengths, std::size_t stream_bytes, unsigned step = 4) {
  const auto table = encoder_table(lengths);
  std::vector<std::uint8_t> packet;
  const auto skip = [&] {
    packet.insert(packet.end(), {0, 0, static_cast<std::uint8_t>(rng.bits(8)), static_cast<std::uint8_t>(rng.bits(8))});
  };
  const std::uint32_t longest = rng.chance(0.5) ? 8 : 100;
  for (std::size_t at = 0; at < values.size();) {
    while (rng.chance(0.1)) skip();
    const std::size_t count = std::min<std::size_t>(step * (1 + rng.below(longest)), values.size() - at);
    const auto chunk = encode_tile(values.subspan(at, count), table);
    const std::size_t words = chunk.size() / 4;
    packet.insert(packet.end(), {static_cast<std::uint8_t>(words), static_cast<std::uint8_t>(words >> 8),
                                 static_cast<std::uint8_t>(rng.bits(8)), static_cast<std::uint8_t>(rng.bits(8))});
    packet.insert(packet.end(), chunk.begin(), chunk.end());
    at += count;
  }
  while (packet.size() % stream_bytes != 0 || rng.chance(0.1)) skip();
  return packet;
}

/// One packet under the code `lengths`, two of three whole.
inline std::vector<std::uint8_t> random_packet(Rng& rng, const CodeLengths& lengths, std::size_t stream_bytes) {
  const DecoderTable table = decoder_table(lengths);
  // Each bit of a number alone, or any (2026-11-23: injected faults in single bits were not found).
  const auto set_head = [&](std::vector<std::uint8_t>& bytes, std::size_t at) {
    const auto head = static_cast<std::uint32_t>(rng.chance(0.7) ? 1U << rng.below(16) : 1 + rng.below(65535));
    bytes[at] = static_cast<std::uint8_t>(head);
    bytes[at + 1] = static_cast<std::uint8_t>(head >> 8);
  };
  const unsigned kind = rng.below(24);
  std::vector<std::uint8_t> values(stream_bytes * (1 + rng.below(rng.chance(0.3) ? 200 : 10)));
  if (kind == 16 && values.size() > 4) values.resize(values.size() - 1 - rng.below(4));  // no multiple
  const double any = rng.chance(0.7) ? 0 : rng.chance(0.5) ? 0.01 : 0.3;
  for (std::uint8_t& value : values) value = random_value(rng, table, any);
  std::vector<std::uint8_t> packet = kind < 6 && values.size() % stream_bytes == 0
                                         ? encode_packet(values, encoder_table(lengths), stream_bytes)
                                         : loose_packet(rng, values, lengths, stream_bytes, kind == 17 ? 3 : 4);
  const std::size_t words = packet.size() / stream_bytes;
  if (kind == 18) {  // a bit is wrong
    const std::uint32_t bit = rng.below(static_cast<std::uint32_t>(packet.size() * 8));
    packet[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
  } else if (kind == 19 && words > 1) {  // it ends early
    packet.resize(stream_bytes * (1 + rng.below(static_cast<std::uint32_t>(words - 1))));
  } else if (kind == 20) {  // it has no values
    packet.assign(stream_bytes * (1 + rng.below(4)), 0);
  } else if (kind == 21) {  // it ends with a head
    packet.resize(packet.size() + stream_bytes);
    set_head(packet, packet.size() - 4);
  } else if (kind == 22) {  // a head has another number
    if (rng.chance(0.5)) {
      set_head(packet, 0);
    } else {
      ++packet[0];
    }
  } else if (kind == 23) {  // any bits
    for (std::uint8_t& byte : packet) byte = static_cast<std::uint8_t>(rng.bits(8));
    packet[0] = static_cast<std::uint8_t>(rng.below(64));
    packet[1] = 0;
  }
  return packet;
}

}  // namespace narrowgauge::bench
