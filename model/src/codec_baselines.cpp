// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "narrowgauge/codec/baselines.hpp"
#include "narrowgauge/codec/bits.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {
namespace {

constexpr std::size_t group = 32;        // values of a mask of ZVC
constexpr std::size_t longest_run = 16;  // of zeros
constexpr unsigned block = 8;            // words of EBPC
constexpr unsigned planes = 9;           // bits of a difference
constexpr unsigned plane_bits = block - 1;
constexpr unsigned all_ones = (1U << plane_bits) - 1;

Error broken(const char* code, std::size_t count) {
  return Error(std::string("these bytes are not ") + std::to_string(count) + " values in " + code +
               "; expected what its encoder made");
}

int number(std::uint8_t value, bool is_signed) { return is_signed ? static_cast<std::int8_t>(value) : value; }

/// A value is 1 and what `put` makes of it, a run of zeros 0 and its length.
template <class Put>
void write_runs(std::span<const std::uint8_t> values, BitWriter& runs, Put put) {
  detail::Pace pace;
  for (std::size_t i = 0; i < values.size();) {
    pace();
    if (values[i] != 0) {
      runs.put(1, 1);
      put(values[i++]);
      continue;
    }
    std::size_t length = 1;
    while (length < longest_run && i + length < values.size() && values[i + length] == 0) ++length;
    runs.put(static_cast<std::uint32_t>(length - 1), 5);
    i += length;
  }
}

/// Up to `count` values; fewer if the bits do not give them.
template <class Take>
std::vector<std::uint8_t> read_runs(BitReader& runs, std::size_t count, Take take) {
  std::vector<std::uint8_t> values;
  while (values.size() < count && !runs.at_end()) {
    if (runs.take(1) != 0) {
      values.push_back(take());
      continue;
    }
    const std::size_t length = runs.take(4) + 1;
    if (length > count - values.size()) return {};
    values.insert(values.end(), length, 0);
  }
  return values;
}

/// Planes of the differences of a block, the lowest bit's first; the earliest difference in the highest bit.
std::array<unsigned, planes> planes_of(const std::array<int, block>& words) {
  std::array<unsigned, planes> result{};
  for (unsigned i = 0; i < plane_bits; ++i) {
    const auto difference = static_cast<unsigned>(words[i + 1] - words[i]);
    for (unsigned bit = 0; bit < planes; ++bit) result[bit] |= (difference >> bit & 1) << (plane_bits - 1 - i);
  }
  return result;
}

void write_block(const std::array<int, block>& words, BitWriter& out) {
  out.put(static_cast<std::uint32_t>(words[0]), 8);
  const auto dbp = planes_of(words);
  const auto changed = [&](unsigned j) { return j == 0 ? dbp[0] : dbp[j] ^ dbp[j - 1]; };
  for (unsigned j = 0; j < planes;) {
    const unsigned dbx = changed(j);
    if (dbx == 0) {
      unsigned run = 1;
      while (j + run < planes && changed(j + run) == 0) ++run;
      if (run == 1) {
        out.put(1, 2);
      } else {
        out.put(1, 3);
        out.put(run - 2, 3);
      }
      j += run;
      continue;
    }
    const auto first = static_cast<unsigned>(std::countl_zero(dbx << (32 - plane_bits)));
    const unsigned two = 3U << (plane_bits - 1) >> 1;  // the first two bits
    if (dbx == all_ones) {
      out.put(0, 5);
    } else if (dbp[j] == 0) {
      out.put(1, 5);
    } else if (first + 1 < plane_bits && dbx == two >> first) {
      out.put(2, 5);
      out.put(first, 3);
    } else if (std::has_single_bit(dbx)) {
      out.put(3, 5);
      out.put(first, 3);
    } else {
      out.put(1, 1);
      out.put(dbx, plane_bits);
    }
    ++j;
  }
}

/// Whether there was a block.
bool read_block(BitReader& in, std::array<int, block>& words, bool is_signed) {
  words[0] = number(static_cast<std::uint8_t>(in.take(8)), is_signed);
  std::array<unsigned, planes> dbp{};
  unsigned before = 0;
  for (unsigned j = 0; j < planes;) {
    unsigned run = 1, dbx = 0;
    bool none = false;  // the plane itself is zero
    if (in.take(1) != 0) {
      dbx = in.take(plane_bits);
    } else if (in.take(1) == 0) {
      if (in.take(1) != 0) {
        run = in.take(3) + 2;
      } else {
        const unsigned code = in.take(2);
        const unsigned position = code >= 2 ? in.take(3) : 0;
        if (code >= 2 && position > plane_bits - (code == 2 ? 2 : 1)) return false;
        none = code == 1;
        dbx = code == 0 ? all_ones : code == 2 ? 3U << (plane_bits - 2 - position) : 1U << (plane_bits - 1 - position);
      }
    }
    if (run > planes - j) return false;
    for (; run > 0; --run) dbp[j++] = before = none ? 0 : before ^ dbx;
  }
  for (unsigned i = 0; i < plane_bits; ++i) {
    unsigned difference = 0;
    for (unsigned bit = 0; bit < planes; ++bit) difference |= (dbp[bit] >> (plane_bits - 1 - i) & 1) << bit;
    const int signed_difference = static_cast<int>(difference) - static_cast<int>((difference & 256) << 1);
    words[i + 1] = words[i] + signed_difference;
  }
  return !in.overrun();
}

}  // namespace

std::vector<std::uint8_t> zvc_encode(std::span<const std::uint8_t> values) {
  std::vector<std::uint8_t> bytes;
  detail::Pace pace;
  for (std::size_t at = 0; at < values.size(); at += group) {
    pace(group);
    const auto part = values.subspan(at, std::min(group, values.size() - at));
    const std::size_t mask = bytes.size();
    bytes.resize(mask + (part.size() + 7) / 8);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == 0) continue;
      bytes[mask + i / 8] |= static_cast<std::uint8_t>(1U << i % 8);
      bytes.push_back(part[i]);
    }
  }
  return bytes;
}

std::vector<std::uint8_t> zvc_decode(std::span<const std::uint8_t> bytes, std::size_t count) {
  std::vector<std::uint8_t> values;
  std::size_t at = 0;
  while (values.size() < count) {
    const std::size_t part = std::min(group, count - values.size()), mask = at;
    at += (part + 7) / 8;
    if (at > bytes.size()) throw broken("ZVC", count);
    for (std::size_t i = 0; i < part; ++i) {
      const bool there = (bytes[mask + i / 8] >> i % 8 & 1) != 0;
      if (there && at == bytes.size()) throw broken("ZVC", count);
      values.push_back(there ? bytes[at++] : std::uint8_t{0});
    }
  }
  if (zvc_encode(values).size() != bytes.size() || at != bytes.size()) throw broken("ZVC", count);
  return values;
}

std::vector<std::uint8_t> zero_rle_encode(std::span<const std::uint8_t> values) {
  BitWriter out;
  write_runs(values, out, [&](std::uint8_t value) { out.put(value, 8); });
  return out.finish();
}

std::vector<std::uint8_t> zero_rle_decode(std::span<const std::uint8_t> bytes, std::size_t count) {
  BitReader in(bytes);
  auto values = read_runs(in, count, [&] { return static_cast<std::uint8_t>(in.take(8)); });
  if (values.size() != count || !std::ranges::equal(zero_rle_encode(values), bytes)) throw broken("zero-RLE", count);
  return values;
}

Ebpc ebpc_encode(std::span<const std::uint8_t> values, bool is_signed) {
  BitWriter zeros, coded;
  std::array<int, block> words{};
  unsigned held = 0;
  const auto end_block = [&] {
    std::fill(words.begin() + held, words.end(), 0);
    write_block(words, coded);
    held = 0;
  };
  write_runs(values, zeros, [&](std::uint8_t value) {
    words[held++] = number(value, is_signed);
    if (held == block) end_block();
  });
  if (held != 0) end_block();
  return {zeros.finish(), coded.finish()};
}

std::vector<std::uint8_t> ebpc_decode(const Ebpc& streams, std::size_t count, bool is_signed) {
  BitReader zeros(streams.zeros), coded(streams.planes);
  std::array<int, block> words{};
  unsigned left = 0;
  bool whole = true;
  auto values = read_runs(zeros, count, [&] {
    if (left == 0) {
      whole = whole && read_block(coded, words, is_signed);
      left = block;
    }
    return static_cast<std::uint8_t>(words[block - left--]);
  });
  if (!whole || values.size() != count || ebpc_encode(values, is_signed) != streams) throw broken("EBPC", count);
  return values;
}

}  // namespace narrowgauge
