// SPDX-License-Identifier: Apache-2.0
// Any bytes as a packet of compressed operands, and the same bytes compressed: whole stream words come out of the one,
// and what went in out of the other. The first two bytes choose the width of the stream and the code.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "narrowgauge/codec/huffman.hpp"
#include "narrowgauge/codec/tile_packet.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace narrowgauge;
  if (size < 2) return 0;
  const std::size_t stream_bytes = std::size_t{4} << data[0] % 3;
  std::array<std::uint64_t, huffman_symbols> counts{};
  counts.fill(1);
  for (std::size_t i = 2; i < size; ++i) counts[data[i]] += data[1];
  const CodeLengths lengths = make_code(counts);
  const DecoderTable table = decoder_table(lengths);
  // Copies of the exact length, so that a read behind the end is seen.
  const std::vector<std::uint8_t> words(data + 2, data + 2 + (size - 2) / stream_bytes * stream_bytes);
  if (words.empty()) return 0;
  if (decode_packet(words, table, stream_bytes).bytes.size() % stream_bytes != 0) std::abort();
  const std::vector<std::uint8_t> packet = encode_packet(words, encoder_table(lengths), stream_bytes);
  const DecodedPacket back = decode_packet(packet, table, stream_bytes);
  if (back.fault || !std::ranges::equal(std::span(back.bytes).first(words.size()), words)) std::abort();
  return 0;
}
