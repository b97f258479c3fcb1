// SPDX-License-Identifier: Apache-2.0
// Compressed feature maps as files: tiles, an index, checksums (docs/codec.md, The file).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narrowgauge/codec/huffman.hpp"
#include "narrowgauge/codec/zero_runs.hpp"

namespace narrowgauge {

inline constexpr std::size_t largest_tile = std::size_t{1} << 20;
inline constexpr std::size_t most_dimensions = 8;

/// Bytes in the order of memory, C order.
struct FeatureMap {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> values;
  bool is_signed = false;  ///< values are two's complement
  float step = 0;          ///< what a 1 stands for; 0: the values stand for themselves
  bool operator==(const FeatureMap&) const = default;
};

/// One step for the whole map: the largest magnitude divided by the largest code of `bits` bits, in float32; codes are
/// x / step rounded to nearest even. Maps without negative numbers get 0 to 2^bits - 1, others -(2^(bits - 1) - 1) to
/// 2^(bits - 1) - 1. The step of a map of zeros is 1. Above 0, `limit` stands for the largest magnitude, and what is
/// beyond it is clipped (clip_limit finds one). Throws Error for numbers that are not finite, for magnitudes whose step
/// is no normal float32, for `bits` that are not 2 to 8, and for a limit that is negative or not finite.
FeatureMap quantize_map(std::span<const float> x, std::vector<std::uint64_t> shape, unsigned bits = 8, float limit = 0);
/// value * step, rounded to float32.
std::vector<float> dequantize_map(const FeatureMap& map);

struct CompressOptions {
  std::size_t tile = 4096;  ///< values of a tile, which is read without the others; 64 to largest_tile
  bool zero_runs = true;    ///< where they make the map smaller
  unsigned threads = 0;     ///< 0: one per core; the file does not depend on it
};

/// The file. Throws Error for a shape that does not fit the values, an empty one, one of more than most_dimensions or
/// extents beyond 2^32 - 1, options out of range.
std::vector<std::uint8_t> compress(const FeatureMap& map, const CompressOptions& options = {});

/// The head of such a file.
struct CompressedHead {
  std::vector<std::uint64_t> shape;
  bool is_signed = false;
  float step = 0;
  std::size_t tile = 0, values = 0;
  ZeroRunSlots slots;
  CodeLengths lengths{};  ///< all 0: every block is raw
  struct Tile {
    std::size_t begin, size;  ///< bytes in the file
    std::uint32_t checksum;
  };
  std::vector<Tile> tiles;
  std::size_t payload_bytes = 0;
};
/// Throws Error for what is no such file, another version, a wrong checksum, anything that does not fit.
CompressedHead read_head(std::span<const std::uint8_t> file);
/// The values of one tile: values t * head.tile up to (t + 1) * head.tile. Throws Error for a number that is no tile's,
/// a wrong checksum, and bits that are no tile of this size.
std::vector<std::uint8_t> decompress_tile(std::span<const std::uint8_t> file, const CompressedHead& head,
                                          std::size_t t);
/// The map. `threads`: 0 is one per core. Throws Error as the two above do, of the first tile that has a fault.
FeatureMap decompress(std::span<const std::uint8_t> file, unsigned threads = 0);

/// CRC-32 as in zlib, PNG and IEEE 802.3.
std::uint32_t crc32(std::span<const std::uint8_t> bytes);

}  // namespace narrowgauge
