// SPDX-License-Identifier: Apache-2.0
#include "codec_stimulus.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "narrowgauge/codec/huffman.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/codec/zero_runs.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"

namespace narrowgauge::power {
namespace {

constexpr double deviation = 12;
constexpr unsigned word_bits = 32;
constexpr unsigned header_bits = 2;

struct Map {
  std::vector<std::uint8_t> values;
  CodeLengths lengths;
};

/// Same numbers on every platform, unlike the standard's distributions.
double normal(std::mt19937_64& engine) {
  const double u = (static_cast<double>(engine() >> 11) + 1) * 0x1p-53;
  return standard_normal(u, static_cast<double>(engine() >> 11) * 0x1p-53);
}

Map feature_map(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Map map;
  std::array<std::uint64_t, huffman_symbols> counts{};
  for (std::size_t i = 0; i < count; ++i) {
    const double x = normal(engine);
    map.values.push_back(static_cast<std::uint8_t>(std::clamp(std::nearbyint(deviation * x), 0.0, 255.0)));
    ++counts[map.values.back()];
  }
  map.lengths = make_code(counts);
  return map;
}

using Ports = std::map<std::string, CodecPort>;

/// A port of zeros; what is not said otherwise.
std::vector<std::uint64_t>& port(Ports& ports, const std::string& name, unsigned width, std::size_t cycles) {
  ports[name] = {width, std::vector<std::uint64_t>(cycles, 0)};
  return ports[name].values;
}

/// The accesses of a table's port, one a cycle.
void table(Ports& ports, unsigned address_bits, unsigned data_bits, std::size_t cycles,
           const std::vector<std::pair<std::uint32_t, std::uint32_t>>& accesses) {
  auto& enable = port(ports, "table_we", 1, cycles);
  auto& address = port(ports, "table_addr", address_bits, cycles);
  auto& data = port(ports, "table_data", data_bits, cycles);
  for (std::size_t i = 0; i < accesses.size() && i < cycles; ++i) {
    enable[i] = 1;
    address[i] = accesses[i].first;
    data[i] = accesses[i].second;
  }
}

Ports encoder(const Map& map, std::size_t cycles) {
  Ports ports;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> accesses;
  const auto entries = encoder_table(map.lengths);
  for (std::uint32_t symbol = 0; symbol < huffman_symbols; ++symbol)
    accesses.push_back({symbol, entries[symbol].word()});
  table(ports, 8, 16, cycles, accesses);
  auto& valid = port(ports, "valid", 1, cycles);
  auto& data = port(ports, "data", 8, cycles);
  port(ports, "last", 1, cycles);
  for (std::size_t i = codec_table_cycles; i < cycles; ++i) {
    valid[i] = 1;
    data[i] = map.values[i - codec_table_cycles];
  }
  return ports;
}

Ports packer(const Map& map, std::size_t cycles) {
  Ports ports;
  const auto entries = encoder_table(map.lengths);
  auto& valid = port(ports, "valid", 1, cycles);
  auto& code = port(ports, "code", huffman_bits + header_bits, cycles);
  auto& length = port(ports, "length", 4, cycles);
  port(ports, "last", 1, cycles);
  bool raw = false;
  for (std::size_t i = codec_table_cycles; i < cycles; ++i) {
    const std::size_t value = i - codec_table_cycles;
    const bool head = value % codec_block == 0;
    if (head)
      raw =
          block_is_raw(std::span(map.values).subspan(value, std::min(codec_block, map.values.size() - value)), entries);
    const EncoderEntry& entry = entries[map.values[value]];
    const std::uint64_t bits = raw ? std::uint64_t{map.values[value]} << 4 : entry.code;
    valid[i] = 1;
    code[i] = head ? (raw ? std::uint64_t{1} << 13 : 0) | bits : bits << header_bits;
    length[i] = (raw ? 8 : entry.length) + (head ? header_bits : 0);
  }
  return ports;
}

Ports decoder(const Map& map, std::size_t cycles) {
  Ports ports;
  const DecoderTable entries = decoder_table(map.lengths);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> accesses;
  for (std::uint32_t rank = 0; rank < huffman_symbols; ++rank) accesses.push_back({rank, entries.symbols[rank]});
  for (std::uint32_t l = 1; l <= huffman_bits; ++l)
    accesses.push_back({256 + l, static_cast<std::uint32_t>(entries.limit[l - 1]) << 8 | entries.base[l - 1]});
  table(ports, 9, 21, cycles, accesses);
  auto& valid = port(ports, "valid", 1, cycles);
  auto& data = port(ports, "data", word_bits, cycles);
  port(ports, "last", 1, cycles);

  const auto codes = encoder_table(map.lengths);
  const std::vector<std::uint8_t> bytes = encode_tile(map.values, codes, word_bits);
  std::vector<std::size_t> first;  // value of each word, the first that begins in it or behind it
  std::size_t bit = 0;
  bool raw = false;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    if (i % codec_block == 0) {
      raw = block_is_raw(std::span(map.values).subspan(i, std::min(codec_block, map.values.size() - i)), codes);
      bit += header_bits;
    }
    while (first.size() * word_bits <= bit) first.push_back(i);
    bit += raw ? 8 : codes[map.values[i]].length;
  }
  for (std::size_t word = 0; 4 * word + 3 < bytes.size(); ++word) {
    const std::size_t cycle = codec_table_cycles + (word < 3 ? word : 2 + first[std::min(word - 2, first.size() - 1)]);
    if (cycle >= cycles) break;
    valid[cycle] = 1;
    for (std::size_t k = 0; k < 4; ++k) data[cycle] = data[cycle] << 8 | bytes[4 * word + k];
  }
  return ports;
}

/// The bytes for runs of zeros that the map has free, and the accesses of a port that writes them.
ZeroRunSlots run_table(const Map& map, std::size_t cycles, Ports& ports) {
  std::array<std::uint64_t, huffman_symbols> counts{};
  for (const std::uint8_t value : map.values) ++counts[value];
  ZeroRunSlots slots = free_slots(counts);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> accesses{{0, static_cast<std::uint32_t>(slots.size())}};
  for (std::uint32_t i = 0; i < slots.size(); ++i) accesses.push_back({i + 1, slots[i]});
  table(ports, 3, 8, cycles, accesses);
  return slots;
}

Ports zero_runs(const Map& map, std::size_t cycles) {
  Ports ports;
  run_table(map, cycles, ports);
  auto& valid = port(ports, "valid", 1, cycles);
  auto& data = port(ports, "data", 8, cycles);
  port(ports, "last", 1, cycles);
  for (std::size_t i = codec_table_cycles; i < cycles; ++i) {
    valid[i] = 1;
    data[i] = map.values[i - codec_table_cycles];
  }
  return ports;
}

/// A byte waits while the zeros of the one before it come.
Ports zero_expand(const Map& map, std::size_t cycles) {
  Ports ports;
  const ZeroRunSlots slots = run_table(map, cycles, ports);
  auto& valid = port(ports, "valid", 1, cycles);
  auto& data = port(ports, "data", 8, cycles);
  port(ports, "last", 1, cycles);
  std::size_t cycle = codec_table_cycles, waits = 1;
  for (const std::uint8_t byte : shorten_runs(map.values, slots)) {
    for (; waits > 0 && cycle < cycles; --waits, ++cycle) {
      valid[cycle] = 1;
      data[cycle] = byte;
    }
    const auto slot = std::find(slots.begin(), slots.end(), byte);
    waits = slot == slots.end() ? 1 : std::size_t{2} << (slot - slots.begin());
  }
  return ports;
}

/// Entry of the cosine transform of `size` values, at half its size where eight bits are shifted out.
int cosine(std::size_t size, std::size_t row, std::size_t column) {
  const double n = static_cast<double>(size),
               angle = (2.0 * static_cast<double>(column) + 1) * static_cast<double>(row);
  return static_cast<int>(
      std::lround(128 * std::sqrt((row == 0 ? 1 : 2) / n) * std::cos(std::numbers::pi * angle / (2 * n))));
}

/// Groups of `size` channels, 16 at the most, that have something in common, through a cosine transform at half its
/// size.
Ports transform(std::size_t size, std::size_t cycles, std::uint64_t seed) {
  constexpr std::uint32_t shift = 8, limit = 127;
  const auto index_bits = static_cast<unsigned>(std::bit_width(size - 1));
  const unsigned sum_bits = 8 + 8 + index_bits;
  const std::size_t entries = size * size, settings = entries + size;
  const std::size_t start = std::max(codec_table_cycles, settings + 1);
  Ports ports;
  auto& enable = port(ports, "table_we", 1, cycles);
  auto& kind = port(ports, "table_kind", 2, cycles);
  auto& row = port(ports, "table_row", index_bits, cycles);
  auto& column = port(ports, "table_column", index_bits, cycles);
  auto& entry = port(ports, "table_data", sum_bits, cycles);
  for (std::size_t i = 0; i <= settings && i < cycles; ++i) {
    enable[i] = 1;
    kind[i] = i < entries ? 0 : i < settings ? 1 : 2;
    row[i] = kind[i] == 0 ? i / size : i % size;
    column[i] = kind[i] == 0 ? i % size : 0;
    entry[i] = kind[i] == 0   ? static_cast<std::uint64_t>(cosine(size, row[i], column[i])) & ((1U << sum_bits) - 1)
               : kind[i] == 1 ? std::uint64_t{1} << (shift - 1)
                              : limit << 6 | shift;
  }
  auto& valid = port(ports, "valid", 1, cycles);
  auto& data = port(ports, "data", 8, cycles);
  port(ports, "last", 1, cycles);
  std::mt19937_64 engine(seed);
  double common = 0;
  for (std::size_t i = start; i < cycles; ++i) {
    if ((i - start) % size == 0) common = 30 * normal(engine);
    valid[i] = 1;
    data[i] = static_cast<std::uint64_t>(
                  static_cast<std::int64_t>(std::clamp(std::nearbyint(common + 8 * normal(engine)), -127.0, 127.0))) &
              0xFF;
  }
  return ports;
}

}  // namespace

CodecPort codec_port(const std::string& name, std::size_t cycles, std::uint64_t seed) {
  const std::size_t dot = name.find('.');
  const std::string unit = name.substr(0, dot);
  const bool transforms = unit == "transform4" || unit == "transform8" || unit == "transform16";
  // A block more than is offered, so that no tile ends.
  const Map map = transforms ? Map{} : feature_map(cycles + codec_block, seed);
  Ports ports;
  if (transforms) ports = transform(std::stoul(unit.substr(9)), cycles, seed);
  if (unit == "encoder") ports = encoder(map, cycles);
  if (unit == "decoder") ports = decoder(map, cycles);
  if (unit == "packer") ports = packer(map, cycles);
  if (unit == "zero_runs") ports = zero_runs(map, cycles);
  if (unit == "zero_expand") ports = zero_expand(map, cycles);
  const auto found = dot == std::string::npos ? ports.end() : ports.find(name.substr(dot + 1));
  if (found == ports.end())
    throw Error(
        "'codec' is '" + name +
        "'; expected transform4, transform8, transform16, encoder, decoder, packer, zero_runs or zero_expand, a dot, "
        "and a port without its _i");
  return found->second;
}

}  // namespace narrowgauge::power
