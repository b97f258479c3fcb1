// SPDX-License-Identifier: Apache-2.0
// Tiles of whole maps, fast: the bits of encode_tile() and the values of decode_tile() and expand_runs(), which define
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/codec/huffman.hpp"

namespace narrowgauge::detail {

/// How often every byte occurs is added to `counts`.
void count_bytes(std::span<const std::uint8_t> values, std::span<std::uint64_t, 256> counts);

/// Writes the tokens of shorten_runs().
class RunShortener {
 public:
  explicit RunShortener(std::span<const std::uint8_t> slots);
  static constexpr std::size_t slack = 8;
  /// The number of tokens, which it writes at `tokens`, where `slack` bytes more than `values` has may be touched.
  std::size_t operator()(std::span<const std::uint8_t> values, std::uint8_t* tokens) const;

 private:
  std::vector<std::array<std::uint8_t, 8>> first_;  ///< of every length of a run its first tokens, as many as fit
  std::vector<std::vector<std::uint8_t>> rest_;     ///< the tokens behind them
  std::vector<std::uint8_t> sizes_;                 ///< tokens of every length
};

/// Writes the bits of encode_tile() in words of 32 bits.
class TileWriter {
 public:
  explicit TileWriter(const CodeLengths& lengths);
  /// Bytes of the tile.
  std::size_t size(std::span<const std::uint8_t> values) const;
  /// Bytes of a tile of so many values where none has a code.
  static std::size_t raw_size(std::size_t values);
  /// Bytes that operator() may touch for so many values.
  static std::size_t room(std::size_t values);
  /// Writes the tile, and returns its bytes.
  std::size_t operator()(std::span<const std::uint8_t> values, std::uint8_t* bytes) const;

 private:
  std::size_t coded_bits(std::span<const std::uint8_t> block) const;

  struct Code {
    std::uint16_t bits, length;
  };
  std::array<Code, huffman_symbols> codes_{};
  std::array<std::uint16_t, huffman_symbols>
      costs_{};  ///< length of a code; where there is none, more than a raw block
};

/// Reads tiles of a map, runs of zeros included.
class TileReader {
 public:
  /// `tiles` that are to be read: the tables for many take longer to make, and are read faster.
  TileReader(const CodeLengths& lengths, std::span<const std::uint8_t> slots, std::size_t tiles);
  /// Memory of one thread for the next tiles.
  struct Scratch {
    std::vector<std::uint8_t> bytes, values;
  };
  /// Whether `bytes` are a tile of as many values as `values` has, which become the tile's.
  bool operator()(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> values, Scratch& scratch) const;

 private:
  struct State;
  bool read_raw(State& state, std::size_t count) const;
  bool read_coded(State& state, std::size_t count) const;

  std::vector<std::uint64_t> entries_;                  ///< Entry, by the next 12 bits
  std::array<std::uint8_t, huffman_symbols> values_{};  ///< what a token stands for,
  std::array<std::uint8_t, huffman_symbols> runs_{};    ///< and how often
  std::size_t longest_ = 1;                             ///< run
};

}  // namespace narrowgauge::detail
