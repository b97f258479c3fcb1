// SPDX-License-Identifier: Apache-2.0
// ZAP (arXiv 1909.07636): a pattern says which outputs of a convolution are computed, and from these a small predictor
// says which of the others are worth it. Contract: docs/zap.md. Maps are rows x columns, channel by channel.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

// ---- Patterns

inline constexpr int zap_kinds = 11;

/// One period of a pattern: bit c of rows[r] is the place in row r and column c, 1 where it is computed.
struct ZapTile {
  std::size_t size = 0;
  std::array<std::uint8_t, 5> rows{};
};

/// Tiles of kinds 5 to 10: 1/2, 3/5, 2/3, 3/4, 7/9 and 8/9 of the places.
inline constexpr std::array<ZapTile, 6> zap_tiles{{
    {2, {0b01, 0b10}},
    {5, {0b01011, 0b10101, 0b11010, 0b01101, 0b10110}},
    {3, {0b011, 0b101, 0b110}},
    {2, {0b11, 0b01}},
    {3, {0b111, 0b101, 0b110}},
    {3, {0b111, 0b101, 0b111}},
}};

/// Whether the pattern of `kind`, 0 to 10, computes a place. Kinds 0 to 4 are complements of kinds 10 to 6.
constexpr bool zap_computed(int kind, std::size_t row, std::size_t column) {
  const ZapTile& tile = zap_tiles.at(static_cast<std::size_t>(kind < 5 ? 5 - kind : kind - 5));
  return (tile.rows.at(row % tile.size) >> column % tile.size & 1) == (kind < 5 ? 0 : 1);
}

/// Where a map's places are computed: 1, else 0. Throws Error unless the kind is 0 to 10.
std::vector<std::uint8_t> zap_pattern(int kind, std::size_t rows, std::size_t columns);

// ---- The predictor as it was trained

/// Batch normalization of a channel in evaluation.
struct ZapNorm {
  double weight = 1, bias = 0, mean = 0, variance = 1;
  static constexpr double epsilon = 1e-5;
};

/// A 3x3 filter, row by row, and its bias.
struct ZapFilter {
  std::array<double, 9> weights{};
  double bias = 0;
};

/// The filter with the norm that follows it folded in. Throws Error for a negative variance.
ZapFilter zap_fold(const ZapFilter& filter, const ZapNorm& norm);

/// The predictor of a channel: value = second(relu(first(computed outputs))), zeros beyond the edges of both maps.
struct ZapPredictor {
  ZapFilter first, second;
};

/// Predicted values of maps of rows x columns, found in FP64 and rounded once; 0 where the pattern computes. `x` holds
/// outputs of any number of samples, each with one map for each predictor. Throws Error for sizes that do not fit.
std::vector<float> zap_values(std::span<const float> x, std::size_t rows, std::size_t columns,
                              std::span<const ZapPredictor> channels, int kind);

/// Which outputs are kept, 1 or 0: those that the pattern computes, and those whose value is above the threshold.
std::vector<std::uint8_t> zap_keep(std::span<const float> values, std::size_t rows, std::size_t columns,
                                   float threshold, int kind);

// ---- The predictor in integers

/// The predictor of a channel, without a multiplication beyond the 18 of its filters.
struct ZapChannel {
  std::array<std::int8_t, 9> first{};
  std::int32_t bias = 0;  ///< of the first filter, with half of the last place of its result; 24 bits
  std::uint32_t shift = 0;
  std::array<std::int8_t, 9> second{};
  std::int32_t threshold = 0;  ///< what the second filter must exceed, its bias included; 20 bits
};

/// The first filter's result as the second takes it: relu, shift with rounding, 255 at most.
constexpr std::int32_t zap_hidden(const ZapChannel& channel, std::int32_t sum) {
  return std::clamp((sum + channel.bias) >> channel.shift, 0, 255);
}

/// The integers of a channel for outputs that are INT8 numbers, 0 to 127, times `scale`. The shift is the smallest
/// under which no such output saturates. Throws Error unless the scale is positive and all numbers are finite.
ZapChannel zap_quantize(const ZapPredictor& predictor, double scale, double threshold);

/// Which outputs are kept, as zap_keep says it, from INT8 outputs.
std::vector<std::uint8_t> zap_predict(std::span<const std::int8_t> x, std::size_t rows, std::size_t columns,
                                      std::span<const ZapChannel> channels, int kind);

// ---- Queues of kept outputs

/// An array whose rows compute places of a map and whose columns compute channels, with a queue before each column.
struct ZapArray {
  std::size_t rows = 1, columns = 1;
  std::size_t depth = 1;  ///< outputs that a queue holds, `rows` or more
};

/// The place of a cell that computes nothing in a pass.
inline constexpr std::uint32_t zap_idle = ~std::uint32_t{0};

/// Passes that compute kept outputs of one sample in `columns` channels: of each pass rows x columns places, row by
/// row. `keep` has channel by channel 1 where an output waits, else 0. A pass begins once a queue is full, and behind
/// the last place while an output waits; it takes the oldest outputs of each queue, `rows` at most. Throws Error unless
/// depth >= rows >= 1 and `keep` holds one map for each column, of fewer than 2^32 places.
std::vector<std::uint32_t> zap_passes(std::span<const std::uint8_t> keep, const ZapArray& array);

}  // namespace narrowgauge
