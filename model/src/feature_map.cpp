// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/codec/feature_map.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "codec_head.hpp"
#include "codec_tiles.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {
namespace {

constexpr std::array<std::uint8_t, 4> magic{'N', 'G', 'F', 'M'};
constexpr unsigned version = 1;
constexpr unsigned word_bits = 32;
constexpr std::uint8_t flag_signed = 1, flag_table = 2;
constexpr std::size_t most_run = std::size_t{1} << zero_run_sizes;  // of a token, which has a bit or more

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320 : 0);
  }
  return table;
}();

/// The values of a map, or what stands for them, in tiles.
struct Tiles {
  std::span<const std::uint8_t> bytes;  ///< a tile in so many
  std::size_t pitch = 0;
  std::vector<std::size_t> counts;  ///< bytes of every tile

  std::span<const std::uint8_t> operator[](std::size_t t) const { return bytes.subspan(t * pitch, counts[t]); }
};

/// Calls f(tile, memory) for every tile. The memory stays for the next tiles.
template <class Memory = std::vector<std::uint8_t>, class F>
void for_tiles(std::size_t tiles, std::size_t tile, unsigned threads, const F& f) {
  constexpr std::size_t piece = std::size_t{1} << 17;  // values of a job, about
  const std::size_t group = std::max<std::size_t>(1, piece / tile);
  detail::parallel_for((tiles + group - 1) / group, threads, [&](std::size_t job) {
    Memory memory;
    for (std::size_t t = job * group; t < std::min(tiles, (job + 1) * group); ++t) {
      detail::breathe();
      f(t, memory);
    }
  });
}

using Counts = std::array<std::uint64_t, 256>;

Counts count_bytes(const Tiles& tiles) {
  Counts counts{};
  for (std::size_t t = 0; t < tiles.counts.size(); ++t) {
    detail::breathe();
    detail::count_bytes(tiles[t], counts);
  }
  return counts;
}

/// A way to write all tiles.
struct Coding {
  CodeLengths lengths{};
  std::vector<std::size_t> sizes;  ///< bytes of every tile
  std::size_t bytes = 0;           ///< all, and the code's
};

/// Under the code that fits the bytes, or under none if that is no longer.
Coding choose_coding(const Tiles& tiles, const Counts& counts, unsigned threads) {
  Coding best;
  for (const bool coded : {true, false}) {
    Coding coding;
    if (coded) coding.lengths = make_code(counts);
    const detail::TileWriter writer(coding.lengths);
    coding.sizes.resize(tiles.counts.size());
    for_tiles(tiles.counts.size(), tiles.pitch, threads, [&](std::size_t t, auto&) {
      coding.sizes[t] = coded ? writer.size(tiles[t]) : detail::TileWriter::raw_size(tiles.counts[t]);
    });
    coding.bytes =
        std::accumulate(coding.sizes.begin(), coding.sizes.end(), coded ? huffman_table_bytes : std::size_t{0});
    if (coded || coding.bytes < best.bytes) best = std::move(coding);
  }
  return best;
}

constexpr auto crc_tables = [] {  // of a byte with 0 to 7 others behind it
  std::array<std::array<std::uint32_t, 256>, 8> tables{crc_table};
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t i = 0; i < 256; ++i) tables[k][i] = tables[k - 1][i] >> 8 ^ crc_table[tables[k - 1][i] & 255];
  return tables;
}();

}  // namespace

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint32_t next = 0;
    for (unsigned i = 0; i < 4; ++i) {
      next ^= crc_tables[7 - i][(crc >> 8 * i & 255) ^ bytes[i]] ^ crc_tables[3 - i][bytes[4 + i]];
    }
    crc = next;
  }
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
  const unsigned threads = options.threads;
  Tiles tiles{map.values, options.tile, std::vector<std::size_t>((elements - 1) / options.tile, options.tile)};
  tiles.counts.push_back(elements - tiles.counts.size() * options.tile);
  const Counts counts = count_bytes(tiles);
  Coding coding = choose_coding(tiles, counts, threads);
  ZeroRunSlots slots = options.zero_runs && counts[0] != 0 ? free_slots(counts) : ZeroRunSlots();
  std::vector<std::uint8_t> tokens;
  if (!slots.empty()) {
    const detail::RunShortener shorten(slots);
    Tiles shorter = tiles;
    shorter.pitch = options.tile + detail::RunShortener::slack;
    tokens.resize(tiles.counts.size() * shorter.pitch);
    for_tiles(tiles.counts.size(), options.tile, threads,
              [&](std::size_t t, auto&) { shorter.counts[t] = shorten(tiles[t], tokens.data() + t * shorter.pitch); });
    shorter.bytes = tokens;
    Coding other = choose_coding(shorter, count_bytes(shorter), threads);
    if (other.bytes + slots.size() < coding.bytes) {
      coding = std::move(other);
      tiles = std::move(shorter);
    } else {
      slots.clear();
    }
  }
  std::vector<std::size_t> begins(coding.sizes.size() + 1);
  std::partial_sum(coding.sizes.begin(), coding.sizes.end(), begins.begin() + 1);
  std::vector<std::uint8_t> payload(begins.back());
  std::vector<std::uint32_t> checksums(coding.sizes.size());
  const detail::TileWriter writer(coding.lengths);
  for_tiles(coding.sizes.size(), options.tile, threads, [&](std::size_t t, std::vector<std::uint8_t>& room) {
    room.resize(detail::TileWriter::room(tiles.counts[t]));
    const std::span<const std::uint8_t> bytes(room.data(), writer(tiles[t], room.data()));
    std::copy(bytes.begin(), bytes.end(), payload.begin() + static_cast<std::ptrdiff_t>(begins[t]));
    checksums[t] = crc32(bytes);
  });

  const bool table = std::any_of(coding.lengths.begin(), coding.lengths.end(), [](std::uint8_t l) { return l != 0; });
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
  if (table) head.raw(pack_code(coding.lengths));
  for (std::size_t t = 0; t < coding.sizes.size(); ++t) {
    head.number(coding.sizes[t] / (word_bits / 8), 4);
    head.number(checksums[t], 4);
  }
  head.number(crc32(head.bytes()), 4);
  head.raw(payload);
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

namespace {

std::size_t values_of(const CompressedHead& head, std::size_t t) {
  return std::min(head.tile, head.values - t * head.tile);
}

std::span<const std::uint8_t> bytes_of(std::span<const std::uint8_t> file, const CompressedHead& head, std::size_t t) {
  return file.subspan(head.tiles[t].begin, head.tiles[t].size);
}

/// What is wrong with a tile that cannot be read.
Error fault_of(std::span<const std::uint8_t> file, const CompressedHead& head, std::size_t t) {
  const auto bytes = bytes_of(file, head, t);
  const std::string name = "tile " + std::to_string(t);
  if (crc32(bytes) != head.tiles[t].checksum) return corrupt_map("the checksum of " + name + " is wrong");
  const std::size_t count = values_of(head, t);
  if (decode_tile(bytes, decoder_table(head.lengths), word_bits, count).fault != TileFault::none)
    return corrupt_map(name + " cannot be decoded");
  return corrupt_map(name + " does not have its " + std::to_string(count) + " values");
}

bool read_tile(std::span<const std::uint8_t> file, const CompressedHead& head, std::size_t t,
               const detail::TileReader& reader, std::span<std::uint8_t> values, detail::TileReader::Scratch& scratch) {
  const auto bytes = bytes_of(file, head, t);
  return crc32(bytes) == head.tiles[t].checksum && reader(bytes, values, scratch);
}

}  // namespace

std::vector<std::uint8_t> decompress_tile(std::span<const std::uint8_t> file, const CompressedHead& head,
                                          std::size_t t) {
  if (t >= head.tiles.size()) {
    throw Error("there is no tile " + std::to_string(t) + "; the map has " + std::to_string(head.tiles.size()));
  }
  std::vector<std::uint8_t> values(values_of(head, t));
  detail::TileReader::Scratch scratch;
  if (!read_tile(file, head, t, detail::TileReader(head.lengths, head.slots, 1), values, scratch))
    throw fault_of(file, head, t);
  return values;
}

FeatureMap decompress(std::span<const std::uint8_t> file, unsigned threads) {
  const CompressedHead head = read_head(file);
  // Tiles that cannot have so many values end here, before there is memory for these.
  for (std::size_t t = 0; t < head.tiles.size(); ++t) {
    if (values_of(head, t) <= head.tiles[t].size * 8 * most_run) continue;
    for (std::size_t other = 0; other < t; ++other) static_cast<void>(decompress_tile(file, head, other));
    throw fault_of(file, head, t);
  }
  FeatureMap map{head.shape, std::vector<std::uint8_t>(head.values), head.is_signed, head.step};
  const detail::TileReader reader(head.lengths, head.slots, head.tiles.size());
  std::atomic<std::size_t> faulty{head.tiles.size()};  // the first one, in whatever order they are read
  using Scratch = detail::TileReader::Scratch;
  for_tiles<Scratch>(head.tiles.size(), head.tile, threads, [&](std::size_t t, Scratch& scratch) {
    const auto values = std::span(map.values).subspan(t * head.tile, values_of(head, t));
    if (read_tile(file, head, t, reader, values, scratch)) return;
    std::size_t first = faulty;
    while (t < first && !faulty.compare_exchange_weak(first, t)) {
    }
  });
  if (faulty < head.tiles.size()) throw fault_of(file, head, faulty);
  return map;
}

}  // namespace narrowgauge
