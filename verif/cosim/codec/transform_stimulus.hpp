// SPDX-License-Identifier: Apache-2.0
// Tables and values for the benches of ng_transform.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../bench.hpp"
#include "narrowgauge/codec/integer_transform.hpp"

namespace narrowgauge::bench {

struct TransformWidths {
  unsigned size, in, out, matrix;
  unsigned index() const {
    unsigned bits = 0;
    while (1U << bits < size) ++bits;
    return bits;
  }
  unsigned sum() const { return in + matrix + index(); }
};

/// A signed number of `width` bits: any, small, or one of the extremes.
inline std::int64_t random_signed(Rng& rng, unsigned width) {
  const std::int64_t top = (std::int64_t{1} << (width - 1)) - 1;
  switch (rng.below(6)) {
    case 0:
      return top;
    case 1:
      return -top - 1;
    case 2:
      return static_cast<std::int64_t>(rng.below(3)) - 1;
    default:
      return static_cast<std::int64_t>(rng.bits(width)) - top - 1;
  }
}

/// A table: a matrix of any or extreme entries, biases, a shift that leaves results within the limit or far off, any
/// limit.
inline IntegerTransform random_transform(Rng& rng, const TransformWidths& w) {
  IntegerTransform t;
  t.size = w.size;
  const bool extreme = rng.chance(0.2);
  const auto lowest = static_cast<std::int16_t>(-(1 << (w.matrix - 1)));
  for (unsigned i = 0; i < w.size * w.size; ++i)
    t.matrix.push_back(extreme ? lowest : static_cast<std::int16_t>(random_signed(rng, w.matrix)));
  for (unsigned i = 0; i < w.size; ++i) t.bias.push_back(random_signed(rng, w.sum()) >> rng.below(w.sum()));
  t.shift = rng.chance(0.8) ? rng.below(w.sum() + 1) : static_cast<unsigned>(rng.bits(6));
  t.high = static_cast<std::int32_t>(rng.bits(rng.chance(0.5) ? w.out - 1 : rng.below(w.out)));
  if (rng.chance(0.3)) t.high = (1 << (w.out - 1)) - 1;
  if (rng.chance(0.4)) {  // small sums and shifts, so that the lowest bits are seen
    for (std::int16_t& entry : t.matrix)
      entry = static_cast<std::int16_t>(rng.chance(0.6) ? 0 : rng.chance(0.5) ? 1 : -1);
    for (std::int64_t& bias : t.bias) bias = static_cast<std::int64_t>(rng.below(15)) - 7;
    t.shift = rng.below(3);
    if (rng.chance(0.5)) t.high = (1 << (w.out - 1)) - 1;
  }
  t.low = rng.chance(0.5) ? 0 : -t.high;
  return t;
}

/// What the table's port takes.
struct TransformWrite {
  unsigned kind, row, column;
  std::uint64_t data;
};
inline std::vector<TransformWrite> table_writes(const IntegerTransform& t, const TransformWidths& w) {
  std::vector<TransformWrite> writes;
  const auto low_bits = [](std::int64_t value, unsigned width) {
    return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << width) - 1);
  };
  for (unsigned r = 0; r < w.size; ++r)
    for (unsigned c = 0; c < w.size; ++c) writes.push_back({0, r, c, low_bits(t.matrix[r * w.size + c], w.matrix)});
  for (unsigned r = 0; r < w.size; ++r) writes.push_back({1, r, 0, low_bits(t.bias[r], w.sum())});
  const auto relu = static_cast<std::uint64_t>(t.low == 0);
  writes.push_back({2, 0, 0, relu << (w.out + 5) | static_cast<std::uint64_t>(t.high) << 6 | t.shift});
  return writes;
}

}  // namespace narrowgauge::bench
