// SPDX-License-Identifier: Apache-2.0
// Compressed feature maps, as the golden compressor writes them, for the benches of ng_map_encode and ng_map_decode.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "../bench.hpp"
#include "codec_stimulus.hpp"
#include "narrowgauge/codec/feature_map.hpp"
#include "narrowgauge/codec/map_tile.hpp"
#include "narrowgauge/codec/transform.hpp"
#include "zero_stimulus.hpp"

namespace narrowgauge::bench {

/// A map's tiles as they stand in its file, and what units need to make and take them.
struct CodedMap {
  std::vector<std::vector<std::uint8_t>> values, tiles;
  ZeroRunSlots slots;
  std::array<EncoderEntry, huffman_symbols> encoder{};
  DecoderTable decoder;
};

/// Of a file of compress(). Tiles in words of other than 32 bits are in no file: the golden encoder makes them.
inline CodedMap coded_map(std::span<const std::uint8_t> file, unsigned width, Bench& bench) {
  const CompressedHead head = read_head(file);
  CodedMap coded{{}, {}, head.slots, encoder_table(head.lengths), decoder_table(head.lengths)};
  for (std::size_t t = 0; t < head.tiles.size(); ++t) {
    coded.values.push_back(decompress_tile(file, head, t));
    coded.tiles.push_back(encode_map_tile(coded.values.back(), coded.encoder, coded.slots, width));
    const auto bytes = file.subspan(head.tiles[t].begin, head.tiles[t].size);
    bench.expect(width != 32 || std::ranges::equal(bytes, coded.tiles.back()),
                 [] { return "a tile of the file is not what the golden encoder makes"; });
  }
  return coded;
}

/// Of a file of components, which has files of compress() in it, or of one of these.
inline std::vector<CodedMap> coded_maps(std::span<const std::uint8_t> file, unsigned width, Bench& bench) {
  if (!is_transformed(file)) return {coded_map(file, width, bench)};
  std::vector<CodedMap> maps;
  for (const auto& part : read_transformed_head(file).parts)
    maps.push_back(coded_map(file.subspan(part.begin, part.size), width, bench));
  return maps;
}

/// The file that NG_CODEC_FILE names, if it does.
inline std::vector<CodedMap> coded_maps_of_environment(unsigned width, Bench& bench) {
  const char* path = std::getenv("NG_CODEC_FILE");
  if (path == nullptr) return {};
  std::ifstream in(path, std::ios::binary);
  const std::vector<std::uint8_t> file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::vector<CodedMap> maps = coded_maps(file, width, bench);
  std::size_t values = 0, tiles = 0;
  for (const CodedMap& map : maps) {
    tiles += map.tiles.size();
    for (const auto& tile : map.values) values += tile.size();
  }
  std::printf("%s: %zu values in %zu tiles of %zu maps\n", path, values, tiles, maps.size());
  return maps;
}

enum class MapKind : std::uint8_t { relu, any, runs, zeros, few };

/// Bytes of a map: behind ReLU, of all values alike, with long runs of zeros, zeros alone, or of few values.
inline std::vector<std::uint8_t> map_values(Rng& rng, MapKind kind, std::size_t count) {
  if (kind == MapKind::runs) return random_runs(rng, count);
  std::vector<std::uint8_t> values(count);
  const unsigned few = 1 + rng.below(6), spread = 4 + rng.below(20);
  for (std::uint8_t& value : values) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(rng.below(2 * spread + 1)) - spread;
    value = static_cast<std::uint8_t>(kind == MapKind::relu  ? std::max(sum / 2, 0.0)
                                      : kind == MapKind::any ? rng.below(256)
                                      : kind == MapKind::few ? rng.below(few) * 40
                                                             : 0);
  }
  return values;
}

/// The maps of a random file: one of bytes, or of the components of a map of numbers.
inline std::vector<CodedMap> random_maps(Rng& rng, unsigned width, bool runs, std::size_t longest_tile, Bench& bench) {
  CompressOptions options;
  options.tile = codec_block + rng.below(static_cast<std::uint32_t>(longest_tile - codec_block + 1));
  options.zero_runs = runs;
  if (rng.chance(0.1)) {
    const std::vector<std::uint64_t> shape{2, 8, 5, 1 + rng.below(12)};
    std::vector<float> x(80 * shape[3]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto common = static_cast<float>(i % (5 * shape[3]) * 7 % 31) - 15.0F;
      x[i] = common + static_cast<float>(rng.below(256)) / 40.0F;
    }
    const Transform transform = calibrate_transform(x, shape, {.bits = 2 + rng.below(7)});
    return coded_maps(compress_transformed(x, shape, transform, {.tile = options.tile, .zero_runs = runs}), width,
                      bench);
  }
  FeatureMap map;
  map.shape = {1 + rng.below(rng.chance(0.3) ? 8 : 2000)};
  map.values = map_values(rng, static_cast<MapKind>(rng.below(5)), map.shape[0]);
  return coded_maps(compress(map, options), width, bench);
}

/// A map of 16 tiles.
inline CodedMap long_map(Rng& rng, MapKind kind, unsigned width, bool runs, std::size_t tile, Bench& bench) {
  FeatureMap map;
  map.shape = {16 * tile};
  map.values = map_values(rng, kind, map.shape[0]);
  return coded_map(compress(map, {.tile = tile, .zero_runs = runs}), width, bench);
}

/// Words of `bits` bits, the first byte lowest.
inline std::vector<std::uint64_t> words_of_file(std::span<const std::uint8_t> bytes, unsigned bits) {
  std::vector<std::uint64_t> words(bytes.size() * 8 / bits);
  for (std::size_t i = 0; i < bytes.size(); ++i) words[i * 8 / bits] |= std::uint64_t{bytes[i]} << (i * 8 % bits);
  return words;
}

}  // namespace narrowgauge::bench
