// SPDX-License-Identifier: Apache-2.0
// Integer statistics of Range BN (arXiv 1805.11046): of the INT8 codes of a channel, cut into chunks, the sum of the
// chunks' maxima, that of their minima and that of all codes. Contract: docs/normalization.md. RTL twin:
// rtl/norm/ng_range_stats.sv.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace narrowgauge {

/// Statistics of the codes of a channel; mean and range follow from them.
struct RangeStats {
  std::int32_t maxima = 0;  ///< sum of the chunks' largest codes
  std::int32_t minima = 0;  ///< sum of the chunks' smallest codes
  std::int32_t sum = 0;     ///< sum of all codes

  friend constexpr bool operator==(const RangeStats&, const RangeStats&) = default;
};

/// `value` as a two's complement number of `bits` bits, what is above them dropped.
constexpr std::int32_t wrap_signed(std::int64_t value, int bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const std::uint64_t low = static_cast<std::uint64_t>(value) & (2 * sign - 1);
  return static_cast<std::int32_t>(static_cast<std::int64_t>(low ^ sign) - static_cast<std::int64_t>(sign));
}

/// Adds a chunk of one code or more. The sums of maxima and minima have 12 bits, which 16 chunks never leave; the sum
/// of codes has 24 bits, which 65536 codes never leave. Above, all three wrap around.
constexpr void add_chunk(RangeStats& stats, std::span<const std::int8_t> chunk) {
  std::int64_t sum = stats.sum;
  for (const std::int8_t code : chunk) sum += code;
  stats.maxima = wrap_signed(stats.maxima + std::int64_t{*std::max_element(chunk.begin(), chunk.end())}, 12);
  stats.minima = wrap_signed(stats.minima + std::int64_t{*std::min_element(chunk.begin(), chunk.end())}, 12);
  stats.sum = wrap_signed(sum, 24);
}

/// Statistics of a channel of `chunks` consecutive chunks of equal length. Throws Error unless there are 1 to 16
/// chunks, which divide the number of codes, and 1 to 65536 codes.
RangeStats range_stats(std::span<const std::int8_t> codes, std::size_t chunks = 16);

}  // namespace narrowgauge
