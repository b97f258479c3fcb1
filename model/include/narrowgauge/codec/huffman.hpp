// SPDX-License-Identifier: Apache-2.0
// Static canonical Huffman codes of bytes, no code longer than 12 bits (docs/codec.md, The code).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace narrowgauge {

inline constexpr unsigned huffman_bits = 12;  ///< of the longest code
inline constexpr std::size_t huffman_symbols = 256;
inline constexpr std::size_t huffman_table_bytes = huffman_symbols / 2;

/// Bits of each symbol's code, 0 to 12; 0: the symbol has none. All else follows from them.
using CodeLengths = std::array<std::uint8_t, huffman_symbols>;

/// The code with the fewest bits for these counts among those of at most `longest` bits (package-merge: Larmore and
/// Hirschberg, "A fast algorithm for optimal length-limited Huffman codes", 1990). Symbols of count 0 get no code, a
/// lone symbol gets one bit. Throws Error if `longest` is not 1 to 12, or too short for so many symbols.
CodeLengths make_code(std::span<const std::uint64_t, huffman_symbols> counts, unsigned longest = huffman_bits);

/// Bits that symbols of these counts take; those without a code count 0.
std::uint64_t coded_bits(std::span<const std::uint64_t, huffman_symbols> counts, const CodeLengths& lengths);

/// Throws Error for a length above 12, or lengths that no prefix code has (Kraft's sum above 1). Codes that leave bit
/// strings unused are fine: those are errors of a stream.
void check_code(const CodeLengths& lengths);

/// 4 bits a symbol, symbol 0 in the high half of byte 0.
std::array<std::uint8_t, huffman_table_bytes> pack_code(const CodeLengths& lengths);
/// Throws Error as check_code does.
CodeLengths unpack_code(std::span<const std::uint8_t, huffman_table_bytes> bytes);

/// What an encoder needs of a symbol, and what `table_data_i` of ng_huffman_encode takes at the symbol's address.
struct EncoderEntry {
  std::uint8_t length = 0;
  std::uint16_t code = 0;  ///< its first bit in bit 11, zeros behind the last
  std::uint32_t word() const { return static_cast<std::uint32_t>(length << huffman_bits | code); }
  bool operator==(const EncoderEntry&) const = default;
};
/// Canonical codes: in order of length, then of symbol, they count up. Throws Error as check_code does.
std::array<EncoderEntry, huffman_symbols> encoder_table(const CodeLengths& lengths);

/// What a decoder needs: for the next 12 bits w of a stream, the length is the first l with w < limit[l - 1], and the
/// symbol is symbols[(base[l - 1] + (w >> (12 - l))) mod 256]. There is none if no limit is above w.
struct DecoderTable {
  std::array<std::uint16_t, huffman_bits> limit{};  ///< 0 to 4096
  std::array<std::uint8_t, huffman_bits> base{};
  std::array<std::uint8_t, huffman_symbols> symbols{};  ///< in order of their codes; zeros behind the last
};
/// Throws Error as check_code does.
DecoderTable decoder_table(const CodeLengths& lengths);

struct Decoded {
  unsigned length = 0;  ///< 0: no code begins like this
  std::uint8_t symbol = 0;
};
/// The rule of DecoderTable.
constexpr Decoded decode_window(const DecoderTable& table, unsigned window) {
  for (unsigned l = 1; l <= huffman_bits; ++l) {
    if (window < table.limit[l - 1])
      return {l, table.symbols[(table.base[l - 1] + (window >> (huffman_bits - l))) % huffman_symbols]};
  }
  return {};
}

}  // namespace narrowgauge
