// SPDX-License-Identifier: Apache-2.0
// Codes and values for the benches of the codec's units.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../bench.hpp"
#include "narrowgauge/codec/huffman.hpp"

namespace narrowgauge::bench {

/// Lengths of a code: of steep or flat, few or all values; codes of all 12 lengths; one symbol; now and then without
/// some of its symbols.
inline CodeLengths random_code(Rng& rng) {
  std::array<std::uint64_t, huffman_symbols> counts{};
  const unsigned symbols = rng.chance(0.3) ? 256 : 1 + rng.below(rng.chance(0.5) ? 256 : 8);
  const unsigned first = rng.below(256), steep = rng.below(6);
  const bool scattered = rng.chance(0.5);  // lengths in no order of the symbols
  for (unsigned i = 0; i < symbols; ++i)
    if (scattered) {
      counts[(first + i) % 256] = std::uint64_t{1} << rng.below(1 + 4 * steep);
    } else {
      counts[(first + i) % 256] = 1 + rng.below(100) + (std::uint64_t{1} << 40 >> std::min(steep * i, 40U));
    }
  CodeLengths lengths = make_code(counts);
  if (rng.chance(0.3)) {
    const double gone = rng.chance(0.5) ? 0.05 : 0.5;
    for (std::uint8_t& length : lengths)
      if (rng.chance(gone)) length = 0;
  }
  return lengths;
}

/// A value: of the code, as its lengths have it, or any.
inline std::uint8_t random_value(Rng& rng, const DecoderTable& table, double any) {
  const Decoded decoded = decode_window(table, static_cast<unsigned>(rng.bits(huffman_bits)));
  return decoded.length == 0 || rng.chance(any) ? static_cast<std::uint8_t>(rng.bits(8)) : decoded.symbol;
}

/// Words of `bits` bits, the first byte in the highest place.
inline std::vector<std::uint64_t> words_of_bytes(std::span<const std::uint8_t> bytes, unsigned bits) {
  std::vector<std::uint64_t> words(bytes.size() * 8 / bits);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint64_t& word = words[i * 8 / bits];
    word = word << 8 | bytes[i];
  }
  return words;
}

/// What the table's port of ng_huffman_decode takes: address, data.
inline std::vector<std::array<std::uint32_t, 2>> table_writes(const DecoderTable& table) {
  std::vector<std::array<std::uint32_t, 2>> writes;
  for (std::uint32_t i = 0; i < huffman_symbols; ++i) writes.push_back({i, table.symbols[i]});
  for (std::uint32_t l = 1; l <= huffman_bits; ++l)
    writes.push_back({256 + l, static_cast<std::uint32_t>(table.limit[l - 1]) << 8 | table.base[l - 1]});
  return writes;
}

}  // namespace narrowgauge::bench
