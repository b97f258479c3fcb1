// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/codec/huffman.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

/// A symbol, or two of the level below put together.
struct Package {
  std::uint64_t weight;
  int symbol;        ///< -1: a pair
  std::size_t pair;  ///< its first half on the level below; the other is the next
};

/// Counts a package's symbols, each of which makes its code one bit longer.
void open_package(const std::vector<std::vector<Package>>& levels, std::size_t level, std::size_t at,
                  CodeLengths& lengths) {
  const Package& package = levels[level][at];
  if (package.symbol >= 0) {
    ++lengths[static_cast<std::size_t>(package.symbol)];
    return;
  }
  open_package(levels, level - 1, package.pair, lengths);
  open_package(levels, level - 1, package.pair + 1, lengths);
}

}  // namespace

CodeLengths make_code(std::span<const std::uint64_t, huffman_symbols> counts, unsigned longest) {
  if (longest < 1 || longest > huffman_bits) {
    throw Error("the longest code may have " + std::to_string(longest) + " bits; expected 1 to " +
                std::to_string(huffman_bits));
  }
  std::vector<Package> symbols;
  for (std::size_t s = 0; s < huffman_symbols; ++s)
    if (counts[s] != 0) symbols.push_back({counts[s], static_cast<int>(s), 0});
  if (symbols.size() > std::size_t{1} << longest) {
    throw Error(std::to_string(symbols.size()) + " symbols have no code of at most " + std::to_string(longest) +
                " bits; allow longer ones");
  }
  CodeLengths lengths{};
  if (symbols.empty()) return lengths;
  if (symbols.size() == 1) {
    lengths[static_cast<std::size_t>(symbols[0].symbol)] = 1;
    return lengths;
  }
  const auto lighter = [](const Package& a, const Package& b) { return a.weight < b.weight; };
  std::stable_sort(symbols.begin(), symbols.end(), lighter);
  std::vector<std::vector<Package>> levels{symbols};
  while (levels.size() < longest) {
    const std::vector<Package>& below = levels.back();
    std::vector<Package> pairs, level;
    for (std::size_t i = 0; i + 1 < below.size(); i += 2)
      pairs.push_back({below[i].weight + below[i + 1].weight, -1, i});
    std::merge(symbols.begin(), symbols.end(), pairs.begin(), pairs.end(), std::back_inserter(level), lighter);
    levels.push_back(std::move(level));
  }
  for (std::size_t i = 0; i < 2 * symbols.size() - 2; ++i) open_package(levels, levels.size() - 1, i, lengths);
  return lengths;
}

std::uint64_t coded_bits(std::span<const std::uint64_t, huffman_symbols> counts, const CodeLengths& lengths) {
  return std::inner_product(counts.begin(), counts.end(), lengths.begin(), std::uint64_t{0});
}

void check_code(const CodeLengths& lengths) {
  unsigned sum = 0;  // Kraft's, in units of the longest code
  for (std::size_t s = 0; s < huffman_symbols; ++s) {
    if (lengths[s] > huffman_bits) {
      throw Error("the code of symbol " + std::to_string(s) + " has " + std::to_string(lengths[s]) +
                  " bits; expected at most " + std::to_string(huffman_bits));
    }
    if (lengths[s] != 0) sum += 1U << (huffman_bits - lengths[s]);
  }
  if (sum > 1U << huffman_bits) {
    throw Error("the lengths of the codes are too short for a prefix code: Kraft's sum is " + std::to_string(sum) +
                "/4096; expected at most 1");
  }
}

std::array<std::uint8_t, huffman_table_bytes> pack_code(const CodeLengths& lengths) {
  std::array<std::uint8_t, huffman_table_bytes> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(lengths[2 * i] << 4 | lengths[2 * i + 1]);
  return bytes;
}

CodeLengths unpack_code(std::span<const std::uint8_t, huffman_table_bytes> bytes) {
  CodeLengths lengths;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    lengths[2 * i] = bytes[i] >> 4;
    lengths[2 * i + 1] = bytes[i] & 15;
  }
  check_code(lengths);
  return lengths;
}

std::array<EncoderEntry, huffman_symbols> encoder_table(const CodeLengths& lengths) {
  check_code(lengths);
  std::array<EncoderEntry, huffman_symbols> table;
  unsigned next = 0;  // left-aligned
  for (unsigned l = 1; l <= huffman_bits; ++l) {
    for (std::size_t s = 0; s < huffman_symbols; ++s) {
      if (lengths[s] != l) continue;
      table[s] = {static_cast<std::uint8_t>(l), static_cast<std::uint16_t>(next)};
      next += 1U << (huffman_bits - l);
    }
  }
  return table;
}

DecoderTable decoder_table(const CodeLengths& lengths) {
  check_code(lengths);
  DecoderTable table;
  unsigned next = 0, index = 0;
  for (unsigned l = 1; l <= huffman_bits; ++l) {
    const unsigned shift = huffman_bits - l;
    table.base[l - 1] = static_cast<std::uint8_t>(index - (next >> shift));
    for (std::size_t s = 0; s < huffman_symbols; ++s) {
      if (lengths[s] != l) continue;
      table.symbols[index++] = static_cast<std::uint8_t>(s);
      next += 1U << shift;
    }
    table.limit[l - 1] = static_cast<std::uint16_t>(next);
  }
  return table;
}

}  // namespace narrowgauge
