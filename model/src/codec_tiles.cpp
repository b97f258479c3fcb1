// SPDX-License-Identifier: Apache-2.0
#include "codec_tiles.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/codec/zero_runs.hpp"

namespace narrowgauge::detail {
namespace {

constexpr unsigned word_bits = 32;
constexpr unsigned looks = 4;  ///< at 12 bits each, in 57

/// The first byte becomes the highest one.
std::uint64_t load_big(const std::uint8_t* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

void store_big(std::uint64_t word, std::uint8_t* bytes) {
  if (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  std::memcpy(bytes, &word, sizeof word);
}

/// Bit i is set where values[i] of 8 values is not 0.
unsigned not_zero(const std::uint8_t* values) {
  constexpr std::uint64_t low = 0x7F7F7F7F7F7F7F7F;
  std::uint64_t word;
  std::memcpy(&word, values, sizeof word);
  if (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  const std::uint64_t top = (((word & low) + low) | word) & ~low;
  return static_cast<unsigned>((top >> 7) * 0x0102040810204080 >> 56);
}

}  // namespace

void count_bytes(std::span<const std::uint8_t> values, std::span<std::uint64_t, 256> counts) {
  // Four tables, so that equal neighbours do not wait for each other.
  constexpr std::size_t piece = std::size_t{1} << 30;  // what 32 bits hold
  for (; !values.empty(); values = values.subspan(std::min(piece, values.size()))) {
    const std::span<const std::uint8_t> part = values.first(std::min(piece, values.size()));
    std::array<std::array<std::uint32_t, 256>, 4> some{};
    std::size_t i = 0;
    for (; i + 4 <= part.size(); i += 4)
      for (std::size_t k = 0; k < 4; ++k) ++some[k][part[i + k]];
    for (; i < part.size(); ++i) ++some[0][part[i]];
    for (std::size_t s = 0; s < 256; ++s) counts[s] += std::uint64_t{some[0][s]} + some[1][s] + some[2][s] + some[3][s];
  }
}

RunShortener::RunShortener(std::span<const std::uint8_t> slots)
    : first_(longest_zero_run + 1), rest_(longest_zero_run + 1), sizes_(longest_zero_run + 1) {
  for (std::size_t run = 0; run <= longest_zero_run; ++run) {
    const auto tokens = shorten_runs(std::vector<std::uint8_t>(run), slots);
    const std::size_t here = std::min(tokens.size(), first_[run].size());
    std::copy_n(tokens.begin(), here, first_[run].begin());
    rest_[run].assign(tokens.begin() + static_cast<std::ptrdiff_t>(here), tokens.end());
    sizes_[run] = static_cast<std::uint8_t>(tokens.size());
  }
}

std::size_t RunShortener::operator()(std::span<const std::uint8_t> values, std::uint8_t* tokens) const {
  std::uint8_t* to = tokens;
  const auto put_run = [&](std::size_t run) {
    const auto put = [&](std::size_t zeros) {
      std::memcpy(to, first_[zeros].data(), slack);
      if (sizes_[zeros] > 8) std::copy(rest_[zeros].begin(), rest_[zeros].end(), to + 8);
      to += sizes_[zeros];
    };
    for (; run >= longest_zero_run; run -= longest_zero_run) put(longest_zero_run);
    put(run);
  };
  std::size_t begin = 0;  // of the zeros before the next value
  const auto put_values = [&](std::size_t at, std::uint64_t mask) {
    for (; mask != 0; mask &= mask - 1) {
      const std::size_t here = at + static_cast<std::size_t>(std::countr_zero(mask));
      put_run(here - begin);
      *to++ = values[here];
      begin = here + 1;
    }
  };
  std::size_t at = 0;
  for (; at + 64 <= values.size(); at += 64) {
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < 8; ++i) mask |= std::uint64_t{not_zero(values.data() + at + 8 * i)} << 8 * i;
    if (mask == ~std::uint64_t{0}) {
      put_run(at - begin);
      std::memcpy(to, values.data() + at, 64);
      to += 64;
      begin = at + 64;
    } else {
      put_values(at, mask);
    }
  }
  for (; at < values.size(); ++at)
    if (values[at] != 0) put_values(at, 1);
  put_run(values.size() - begin);
  return static_cast<std::size_t>(to - tokens);
}

TileWriter::TileWriter(const CodeLengths& lengths) {
  const auto table = encoder_table(lengths);
  for (std::size_t s = 0; s < huffman_symbols; ++s) {
    const EncoderEntry& entry = table[s];
    codes_[s] = {static_cast<std::uint16_t>(entry.code >> (huffman_bits - entry.length)), entry.length};
    costs_[s] = entry.length == 0 ? 8 * codec_block + 1 : entry.length;
  }
}

std::size_t TileWriter::coded_bits(std::span<const std::uint8_t> block) const {
  std::size_t bits = 0;
  if (block.size() == codec_block) {
    for (std::size_t i = 0; i < codec_block; ++i) bits += costs_[block[i]];
  } else {
    for (const std::uint8_t value : block) bits += costs_[value];
  }
  return bits;
}

std::size_t TileWriter::size(std::span<const std::uint8_t> values) const {
  std::size_t bits = 6;
  for (std::size_t at = 0; at < values.size(); at += codec_block) {
    const auto block = values.subspan(at, std::min(codec_block, values.size() - at));
    bits += 2 + std::min(coded_bits(block), 8 * block.size());
  }
  return (bits + word_bits - 1) / word_bits * (word_bits / 8);
}

std::size_t TileWriter::raw_size(std::size_t values) {
  const std::size_t bits = 6 + 2 * ((values + codec_block - 1) / codec_block) + 8 * values;
  return (bits + word_bits - 1) / word_bits * (word_bits / 8);
}

std::size_t TileWriter::room(std::size_t values) {
  return values + (values / codec_block + 1) / 4 +
         32;  // raw blocks and their heads, what a word is padded with, a store
}

std::size_t TileWriter::operator()(std::span<const std::uint8_t> values, std::uint8_t* bytes) const {
  std::uint8_t* to = bytes;
  std::uint64_t held = 0;  // its lowest `fill` bits, 7 at most between two calls of store(), are not in `bytes`
  unsigned fill = 0;
  const auto put = [&](std::uint64_t value, unsigned count) {
    held = held << count | value;
    fill += count;
  };
  const auto store = [&] {
    store_big(fill == 0 ? 0 : held << (64 - fill), to);
    to += fill / 8;
    fill %= 8;
  };
  for (std::size_t at = 0; at < values.size(); at += codec_block) {
    const auto block = values.subspan(at, std::min(codec_block, values.size() - at));
    const bool raw = coded_bits(block) > 8 * block.size(), last = at + block.size() == values.size();
    put(raw, 1);
    put(last, 1);
    if (last) put(block.size() - 1, 6);
    store();
    std::size_t i = 0;
    if (raw) {
      for (; i < block.size(); ++i) {
        put(block[i], 8);
        store();
      }
      continue;
    }
    for (; i + 4 <= block.size(); i += 4) {
      const Code a = codes_[block[i]], b = codes_[block[i + 1]], c = codes_[block[i + 2]], d = codes_[block[i + 3]];
      const unsigned low = c.length + d.length;
      put((std::uint64_t{a.bits} << b.length | b.bits) << low | std::uint64_t{c.bits} << d.length | d.bits,
          a.length + b.length + low);
      store();
    }
    for (; i < block.size(); ++i) {
      put(codes_[block[i]].bits, codes_[block[i]].length);
      store();
    }
  }
  if (fill != 0) put(0, 8 - fill);
  store();
  for (; static_cast<std::size_t>(to - bytes) % (word_bits / 8) != 0; ++to) *to = 0;
  return static_cast<std::size_t>(to - bytes);
}

namespace {

/// What the next 12 bits of a stream begin with: up to three tokens whose codes are whole among them.
namespace entry {

constexpr unsigned most = 3;  ///< tokens
constexpr std::size_t window = std::size_t{1} << huffman_bits;

struct Field {
  unsigned at, width;
  constexpr std::uint64_t get(std::uint64_t e) const { return e >> at & ((std::uint64_t{1} << width) - 1); }
  constexpr std::uint64_t put(std::uint64_t value) const { return value << at; }
};
constexpr Field length{0, 6},                  ///< bits of all their codes
    tokens{6, 2},                              ///< how many they are; 1 where no code begins like this
    first{8, 8}, second{16, 8}, third{24, 8},  ///< their values; 0 for runs, and where there are fewer
    run{32, 8},                                ///< values that the first stands for
    two_runs{40, 9},                           ///< the first two
    all_runs{49, 9},                           ///< all
    first_length{58, 4},                       ///< bits of the first code
    bad{62, 1};                                ///< no code begins like this

}  // namespace entry

}  // namespace

struct TileReader::State {
  const std::uint8_t* bytes;
  std::size_t position = 0;  ///< in bits
  std::uint8_t *to, *end;    ///< of the values

  std::uint64_t next() const { return load_big(bytes + position / 8) << position % 8; }
};

TileReader::TileReader(const CodeLengths& lengths, std::span<const std::uint8_t> slots, std::size_t tiles)
    : entries_(entry::window) {
  runs_.fill(1);
  for (std::size_t s = 0; s < huffman_symbols; ++s) values_[s] = static_cast<std::uint8_t>(s);
  for (std::size_t k = 0; k < slots.size(); ++k) {
    values_[slots[k]] = 0;
    runs_[slots[k]] = static_cast<std::uint8_t>(2U << k);
    longest_ = std::max<std::size_t>(longest_, runs_[slots[k]]);
  }
  const auto table = encoder_table(lengths);
  std::fill(entries_.begin(), entries_.end(),
            entry::bad.put(1) | entry::tokens.put(1) | entry::length.put(huffman_bits));
  for (std::size_t s = 0; s < huffman_symbols; ++s) {
    const std::uint64_t length = table[s].length, run = runs_[s];
    if (length == 0) continue;
    std::fill_n(entries_.begin() + table[s].code, std::size_t{1} << (huffman_bits - length),
                entry::length.put(length) | entry::first_length.put(length) | entry::tokens.put(1) |
                    entry::first.put(values_[s]) | entry::run.put(run) | entry::two_runs.put(run) |
                    entry::all_runs.put(run));
  }
  if (tiles < 16) return;
  const std::vector<std::uint64_t> single = entries_;
  for (std::size_t w = 0; w < entry::window; ++w) {
    std::uint64_t length = entry::length.get(single[w]), runs = entry::run.get(single[w]);
    const auto follows = [&](std::uint64_t& e) {
      e = single[w << length & (entry::window - 1)];
      return length + entry::length.get(e) <= huffman_bits && entry::bad.get(e) == 0;
    };
    std::uint64_t e = 0;
    if (entry::bad.get(single[w]) != 0 || !follows(e)) continue;
    constexpr std::uint64_t kept = entry::first.put(255) | entry::run.put(255) | entry::first_length.put(15);
    std::uint64_t all = (single[w] & kept) | entry::second.put(entry::first.get(e));
    length += entry::length.get(e);
    runs += entry::run.get(e);
    all |= entry::two_runs.put(runs);
    std::uint64_t tokens = 2;
    if (follows(e)) {
      all |= entry::third.put(entry::first.get(e));
      length += entry::length.get(e);
      runs += entry::run.get(e);
      tokens = 3;
    }
    entries_[w] = all | entry::all_runs.put(runs) | entry::tokens.put(tokens) | entry::length.put(length);
  }
}

bool TileReader::read_raw(State& state, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (state.to > state.end) return false;
    const auto token = static_cast<std::uint8_t>(state.next() >> 56);
    *state.to = values_[token];
    state.to += runs_[token];
    state.position += 8;
  }
  return true;
}

bool TileReader::read_coded(State& state, std::size_t count) const {
  std::uint64_t seen = 0;
  std::uint8_t* to = state.to;
  std::size_t position = state.position;
  const std::uint64_t* const entries = entries_.data();
  const auto next = [&] { return load_big(state.bytes + position / 8) << position % 8; };
  const auto look = [&](std::uint64_t& bits) {
    const std::uint64_t e = entries[bits >> (64 - huffman_bits)];
    const auto length = static_cast<unsigned>(entry::length.get(e));
    to[0] = static_cast<std::uint8_t>(entry::first.get(e));
    to[entry::run.get(e)] = static_cast<std::uint8_t>(entry::second.get(e));
    to[entry::two_runs.get(e)] = static_cast<std::uint8_t>(entry::third.get(e));
    to += entry::all_runs.get(e);
    seen |= e;
    bits <<= length;
    position += length;
    count -= entry::tokens.get(e);
  };
  while (count >= looks * entry::most) {
    if (to > state.end) return false;
    std::uint64_t bits = next();
    for (unsigned i = 0; i < looks; ++i) look(bits);
  }
  while (count >= entry::most) {
    if (to > state.end) return false;
    std::uint64_t bits = next();
    for (unsigned i = 0; i < looks && count >= entry::most; ++i) look(bits);
  }
  for (std::uint64_t bits = next(); count > 0; --count) {
    const std::uint64_t e = entries[bits >> (64 - huffman_bits)];
    const std::uint64_t length = entry::first_length.get(e);
    *to = static_cast<std::uint8_t>(entry::first.get(e));
    to += entry::run.get(e);
    seen |= e;
    bits <<= length;
    position += length;
  }
  state.to = to;
  state.position = position;
  return entry::bad.get(seen) == 0;
}

bool TileReader::operator()(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> values,
                            Scratch& scratch) const {
  // Behind the end there are zeros, enough for a block that begins there, which overruns it; and room for the runs of
  // tokens that are read at once.
  constexpr std::size_t block_bytes = codec_block * huffman_bits / 8 + 1;
  scratch.bytes.assign(bytes.begin(), bytes.end());
  scratch.bytes.resize(bytes.size() + block_bytes + sizeof(std::uint64_t));
  scratch.values.assign(values.size() + looks * entry::most * longest_ + 1, 0);
  State state{scratch.bytes.data(), 0, scratch.values.data(), scratch.values.data() + values.size()};
  for (bool last = false; !last;) {
    const std::uint64_t head = state.next();
    const bool raw = head >> 63 != 0;
    last = (head >> 62 & 1) != 0;
    const std::size_t count = last ? (head >> 56 & 63) + 1 : codec_block;
    state.position += last ? 8 : 2;
    if (!(raw ? read_raw(state, count) : read_coded(state, count)) || state.position > bytes.size() * 8) return false;
  }
  if (state.to != state.end || (state.position + word_bits - 1) / word_bits * word_bits != bytes.size() * 8)
    return false;
  std::copy_n(scratch.values.begin(), values.size(), values.begin());
  return true;
}

}  // namespace narrowgauge::detail
