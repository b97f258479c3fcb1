// SPDX-License-Identifier: Apache-2.0
// Integer statistics of L2 and L1 normalization (arXiv 1803.01814): of the INT8 codes of a channel, the sums of squares
// and of codes, or the distances from an integer centre and how many codes are above it. Contract:
// docs/normalization.md. RTL twin: rtl/norm/ng_moment_stats.sv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "narrowgauge/norm/range_stats.hpp"

namespace narrowgauge {

/// Statistics of the codes of a channel.
struct MomentStats {
  std::int32_t spread = 0;  ///< sum of squares, or of distances from the centre; not negative
  std::int32_t sum = 0;     ///< sum of all codes, or how many are above the centre

  friend constexpr bool operator==(const MomentStats&, const MomentStats&) = default;
};

/// Adds codes of order 2. The sum of squares has 31 bits and that of codes 24, which 65536 codes never leave. Above,
/// both wrap around.
constexpr void add_squares(MomentStats& stats, std::span<const std::int8_t> codes) {
  std::int64_t squares = stats.spread, sum = stats.sum;
  for (const std::int8_t code : codes) squares += code * code, sum += code;
  stats = {.spread = static_cast<std::int32_t>(squares & 0x7FFFFFFF), .sum = wrap_signed(sum, 24)};
}

/// Adds codes of order 1. The sum of distances has 24 bits and the count 17, which 65536 codes never leave. Above, both
/// wrap around.
constexpr void add_distances(MomentStats& stats, std::span<const std::int8_t> codes, std::int8_t centre) {
  std::int64_t distances = stats.spread, above = stats.sum;
  for (const std::int8_t code : codes) {
    distances += code > centre ? code - centre : centre - code;
    above += code > centre;
  }
  stats = {.spread = static_cast<std::int32_t>(distances & 0xFFFFFF),
           .sum = static_cast<std::int32_t>(above & 0x1FFFF)};
}

/// Statistics of a channel of order 2. Throws Error unless there are 1 to 65536 codes.
MomentStats square_stats(std::span<const std::int8_t> codes);

/// Statistics of a channel of order 1. Throws Error unless there are 1 to 65536 codes.
MomentStats distance_stats(std::span<const std::int8_t> codes, std::int8_t centre);

/// The integer part of the mean of `count` codes whose sum is `sum`: the centre from which distances tell those from
/// the mean.
constexpr std::int8_t mean_floor(std::int32_t sum, std::size_t count) {
  const std::int64_t n = static_cast<std::int64_t>(count), rest = ((sum % n) + n) % n;
  return static_cast<std::int8_t>((sum - rest) / n);
}

/// The variance times the square of `count`: count * sum of squares - (sum of codes)^2, exact.
constexpr std::int64_t scaled_variance(const MomentStats& squares, std::size_t count) {
  return static_cast<std::int64_t>(count) * squares.spread - std::int64_t{squares.sum} * squares.sum;
}

/// The sum of distances from the mean times `count`, exact, where the centre is the mean's integer part: codes above it
/// are nearer to the mean by the mean's fraction than to the centre, all others further by it.
constexpr std::int64_t scaled_deviation(const MomentStats& distances, std::int32_t sum, std::int8_t centre,
                                        std::size_t count) {
  const auto n = static_cast<std::int64_t>(count);
  return n * distances.spread + (sum - centre * n) * (n - 2 * std::int64_t{distances.sum});
}

}  // namespace narrowgauge
