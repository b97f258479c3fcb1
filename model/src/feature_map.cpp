// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/codec/feature_map.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "codec_head.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {
namespace {

constexpr std::array<std::uint8_t, 4> magic{'N', 'G', 'F', 'M'};
constexpr unsigned version = 1;
constexpr unsigned word_bits = 32;
constexpr std::uint8_t flag_signed = 1, flag_table = 2;

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320 : 0);
  }
  return table;
}();

std::array<std::uint64_t, 256> count_bytes(std::span<const std::uint8_t> values) {
  std::array<std::uint64_t, 256> counts{};
  for (const std::uint8_t value : values) ++counts[value];
  return counts;
}

struct Tiles {
  CodeLengths lengths{};
  std::vector<std::vector<std::uint8_t>> payloads;
  std::size_t bytes = 0;
};

/// All tiles under the code that fits their values, or under none if that is no longer.
Tiles code_tiles(const std::vector<std::vector<std::uint8_t>>& parts) {
  std::array<std::uint64_t, 256> counts{};
  for (const auto& part : parts)
    for (const std::uint8_t value : part) ++counts[value];
  Tiles best;
  for (const bool coded : {true, false}) {
    Tiles tiles;
    if (coded) tiles.lengths = make_code(counts);
    tiles.bytes = coded ? huffman_table_bytes : 0;
    const auto table = encoder_table(tiles.lengths);
    for (const auto& part : parts) {
      detail::breathe();
      tiles.payloads.push_back(encode_tile(part, table, word_bits));
      tiles.bytes += tiles.payloads.back().size();
    }
    if (coded || tiles.bytes < best.bytes) best = std::move(tiles);
  }
  return best;
}

}  // namespace

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const std::uint8_t byte : bytes) crc = crc >> 8 ^ crc_table[(crc ^ byte) & 255];
  return ~crc;
}

FeatureMap quantize_map(std::span<const float> x, std::vector<std::uint64_t> shape, unsigned bits, float limit) {
  if (!(limit >= 0) || std::isinf(limit))
    throw Error("limit is " + std::to_string(limit) + "; expected a number above 0, or 0 for none");
  if (bits < 2 || bits > 8) throw Error("bits is " + std::to_string(bits) + "; expected 2 to 8");
  FeatureMap map;
  float largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      throw Error("value " + std::to_string(i) + " of the map is not finite; a step has no code for it");
    }
    largest = std::max(largest, std::fabs(x[i]));
    map.is_signed |= x[i] < 0;
  }
  if (limit > 0) largest = limit;
  const int top = map.is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  map.step = largest == 0 ? 1.0F : static_cast<float>(double{largest} / top);
  if (map.step < std::numeric_limits<float>::min()) {
    std::array<char, 32> text;
    throw Error("the largest magnitude of the map is " +
                std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), largest).ptr) +
                ", whose step is below the normal float32 numbers; scale the map");
  }
  map.shape = std::move(shape);
  map.values.reserve(x.size());
  detail::Pace pace;
  for (const float value : x) {
    pace();
    const double code = std::clamp(std::nearbyint(double{value} / double{map.step}), -double(top), double(top));
    map.values.push_back(static_cast<std::uint8_t>(static_cast<int>(code)));
  }
  return map;
}

std::vector<float> dequantize_map(const FeatureMap& map) {
  std::vector<float> x;
  x.reserve(map.values.size());
  detail::Pace pace;
  for (const std::uint8_t value : map.values) {
    pace();
    const int code = map.is_signed ? static_cast<std::int8_t>(value) : value;
    x.push_back(static_cast<float>(code) * (map.step == 0 ? 1.0F : map.step));
  }
  return x;
}

std::vector<std::uint8_t> compress(const FeatureMap& map, const CompressOptions& options) {
  if (options.tile < codec_block || options.tile > largest_tile) {
    throw Error("tile is " + std::to_string(options.tile) + "; expected " + std::to_string(codec_block) + " to " +
                std::to_string(largest_tile) + " values");
  }
  if (map.shape.empty() || map.shape.size() > most_dimensions) {
    throw Error("the map has " + std::to_string(map.shape.size()) + " dimensions; expected 1 to " +
                std::to_string(most_dimensions));
  }
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : map.shape) {
    if (extent == 0 || extent > 0xFFFFFFFF || elements > map.values.size() / extent) elements = 0;
    elements *= extent;
  }
  if (elements == 0 || elements != map.values.size()) {
    throw Error("the shape of the map does not have the " + std::to_string(map.values.size()) +
                " values that it holds; expected their product, and at least one value");
  }
  std::vector<std::vector<std::uint8_t>> parts;
  for (std::size_t at = 0; at < map.values.size(); at += options.tile) {
    const auto begin = map.values.begin() + static_cast<std::ptrdiff_t>(at);
    parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(options.tile, map.values.size() - at)));
  }
  Tiles tiles = code_tiles(parts);
  ZeroRunSlots slots = options.zero_runs ? free_slots(count_bytes(map.values)) : ZeroRunSlots();
  if (!slots.empty()) {
    for (auto& part : parts) {
      detail::breathe();
      part = shorten_runs(part, slots);
    }
    Tiles shorter = code_tiles(parts);
    if (shorter.bytes + slots.size() < tiles.bytes) {
      tiles = std::move(shorter);
    } else {
      slots.clear();
    }
  }

  const bool table = std::any_of(tiles.lengths.begin(), tiles.lengths.end(), [](std::uint8_t l) { return l != 0; });
  HeadWriter head;
  head.raw(magic);
  head.number(version, 2);
  head.number((map.is_signed ? flag_signed : 0) | (table ? flag_table : 0), 1);
  head.number(map.shape.size(), 1);
  head.number(slots.size(), 4);
  head.number(std::bit_cast<std::uint32_t>(map.step), 4);
  head.number(options.tile, 4);
  for (const std::uint64_t extent : map.shape) head.number(extent, 4);
  head.raw(slots);
  if (table) head.raw(pack_code(tiles.lengths));
  for (const auto& payload : tiles.payloads) {
    head.number(payload.size() / (word_bits / 8), 4);
    head.number(crc32(payload), 4);
  }
  head.number(crc32(head.bytes()), 4);
  for (const auto& payload : tiles.payloads) head.raw(payload);
  return std::move(head.bytes());
}

CompressedHead read_head(std::span<const std::uint8_t> file) {
  HeadReader in(file);
  if (file.size() < magic.size() || !std::equal(magic.begin(), magic.end(), in.raw(magic.size()).begin())) {
    throw Error("this is no compressed feature map: it does not begin with NGFM; make one with narrowgauge compress");
  }
  in.version(version);
  CompressedHead head;
  const std::uint64_t flags = in.number(1), dimensions = in.number(1), slots = in.number(4);
  if (flags > (flag_signed | flag_table) || dimensions == 0 || dimensions > most_dimensions || slots > zero_run_sizes)
    throw corrupt_map("its head has a field out of range");
  head.is_signed = (flags & flag_signed) != 0;
  head.step = std::bit_cast<float>(static_cast<std::uint32_t>(in.number(4)));
  head.tile = in.number(4);
  if (head.tile < codec_block || head.tile > largest_tile || !(head.step >= 0) || std::isinf(head.step))
    throw corrupt_map("its head has a field out of range");
  std::tie(head.shape, head.values) = in.shape(dimensions);
  const auto slot_bytes = in.raw(slots);
  head.slots.assign(slot_bytes.begin(), slot_bytes.end());
  for (std::size_t i = 0; i < slots; ++i) {
    if (head.slots[i] == 0 || std::count(head.slots.begin(), head.slots.end(), head.slots[i]) != 1)
      throw corrupt_map("two of its runs of zeros have the same symbol, or one has that of zero");
  }
  if (flags & flag_table) head.lengths = unpack_code(in.raw(huffman_table_bytes).first<huffman_table_bytes>());
  const std::size_t tiles = (head.values + head.tile - 1) / head.tile;
  if (tiles > in.left() / 8) throw corrupt_map("its index does not fit its size");
  std::size_t at = in.position() + 8 * tiles + 4;
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::size_t size = in.number(4) * (word_bits / 8);
    head.tiles.push_back({at, size, static_cast<std::uint32_t>(in.number(4))});
    at += size;
    head.payload_bytes += size;
  }
  in.checksum();
  if (at != file.size()) {
    throw corrupt_map("it has " + std::to_string(file.size()) + " bytes, and its index " + std::to_string(at));
  }
  return head;
}

std::vector<std::uint8_t> decompress_tile(std::span<const std::uint8_t> file, const CompressedHead& head,
                                          std::size_t t) {
  if (t >= head.tiles.size()) {
    throw Error("there is no tile " + std::to_string(t) + "; the map has " + std::to_string(head.tiles.size()));
  }
  const auto payload = file.subspan(head.tiles[t].begin, head.tiles[t].size);
  const std::string name = "tile " + std::to_string(t);
  if (crc32(payload) != head.tiles[t].checksum) throw corrupt_map("the checksum of " + name + " is wrong");
  const std::size_t count = std::min(head.tile, head.values - t * head.tile);
  const DecodedTile tile = decode_tile(payload, decoder_table(head.lengths), word_bits, count);
  if (tile.fault != TileFault::none) throw corrupt_map(name + " cannot be decoded");
  auto values = expand_runs(tile.values, head.slots, count);
  if (!values || values->size() != count)
    throw corrupt_map(name + " does not have its " + std::to_string(count) + " values");
  return std::move(*values);
}

FeatureMap decompress(std::span<const std::uint8_t> file) {
  const CompressedHead head = read_head(file);
  FeatureMap map{head.shape, {}, head.is_signed, head.step};
  for (std::size_t t = 0; t < head.tiles.size(); ++t) {
    detail::breathe();
    const auto tile = decompress_tile(file, head, t);
    map.values.insert(map.values.end(), tile.begin(), tile.end());
  }
  return map;
}

}  // namespace narrowgauge
