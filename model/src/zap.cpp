// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/zap.hpp"

#include <cmath>
#include <deque>
#include <string>
#include <utility>

#include "narrowgauge/parallel.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {
namespace {

/// Widths of a channel's bias and threshold in hardware; the bias has room for the half that rounds.
constexpr double largest_bias = 1 << 22, largest_threshold = (1 << 19) - 1;
constexpr std::int32_t largest_input = 127, largest_weight = 127, largest_hidden = 255;

using detail::require;

void require_kind(int kind) {
  require(kind >= 0 && kind < zap_kinds, [&] { return "kind is " + std::to_string(kind) + "; expected 0 to 10"; });
}

void require_maps(std::size_t size, std::size_t rows, std::size_t columns, std::size_t channels) {
  const std::size_t sample = rows * columns * channels;
  require(sample > 0 && size % sample == 0, [&] {
    return std::to_string(size) + " elements are no maps of " + std::to_string(rows) + " x " + std::to_string(columns) +
           " in " + std::to_string(channels) + " channels; expected whole samples of one place or more";
  });
}

/// A 3x3 filter over one map, zeros beyond the edges, sums in Sum.
template <class Sum, class Weight>
void convolve(std::span<const Sum> map, std::size_t columns, const std::array<Weight, 9>& weights,
              std::span<Sum> sums) {
  const std::size_t rows = map.size() / columns;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      Sum sum = 0;
      for (std::size_t i = 0; i < 9; ++i) {
        const std::size_t r = row + i / 3, c = column + i % 3;  // one below and right of the place
        if (r < 1 || c < 1 || r > rows || c > columns) continue;
        sum += map[(r - 1) * columns + c - 1] * static_cast<Sum>(weights[i]);
      }
      sums[row * columns + column] = sum;
    }
  }
}

/// Calls use(channel, first place, sums of the second filter) for each map of x. hidden(channel, sum) is what the
/// second filter takes for a sum of the first.
template <class Sum, class In, class Channel>
void predict(std::span<const In> x, std::size_t rows, std::size_t columns, std::span<const Channel> channels,
             std::span<const std::uint8_t> pattern, auto&& filters, auto&& hidden, auto&& use) {
  const std::size_t size = rows * columns;
  std::vector<Sum> map(size), sums(size);
  detail::Pace pace;
  std::size_t number = 0;  // of the map
  for (std::size_t start = 0; start < x.size(); start += size) {
    const Channel& channel = channels[number++ % channels.size()];
    pace(18 * size);
    for (std::size_t i = 0; i < size; ++i) map[i] = pattern[i] ? static_cast<Sum>(x[start + i]) : Sum{0};
    const auto [first, second] = filters(channel);
    convolve<Sum>(std::span<const Sum>(map), columns, first, std::span(sums));
    for (std::size_t i = 0; i < size; ++i) map[i] = hidden(channel, sums[i]);
    convolve<Sum>(std::span<const Sum>(map), columns, second, std::span(sums));
    use(channel, start, std::span<const Sum>(sums));
  }
}

double magnitude(const ZapFilter& filter) {
  double largest = 0;
  for (const double weight : filter.weights) largest = std::max(largest, std::abs(weight));
  return largest;
}

/// A number in units, rounded to nearest even and limited; 0 under a unit of 0.
template <class Integer>
Integer in_units(double number, double unit, double limit) {
  return static_cast<Integer>(unit > 0 ? std::clamp(std::nearbyint(number / unit), -limit, limit) : 0);
}

std::array<std::int8_t, 9> in_units(const ZapFilter& filter, double unit) {
  std::array<std::int8_t, 9> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes.at(i) = in_units<std::int8_t>(filter.weights.at(i), unit, largest_weight);
  }
  return codes;
}

void require_finite(const ZapFilter& filter) {
  const bool weights =
      std::all_of(filter.weights.begin(), filter.weights.end(), [](double w) { return std::isfinite(w); });
  require(weights && std::isfinite(filter.bias),
          [] { return std::string("a weight or a bias of a filter is not finite; expected finite numbers"); });
}

}  // namespace

std::vector<std::uint8_t> zap_pattern(int kind, std::size_t rows, std::size_t columns) {
  require_kind(kind);
  std::vector<std::uint8_t> pattern;
  pattern.reserve(rows * columns);
  detail::Pace pace;
  for (std::size_t row = 0; row < rows; ++row) {
    pace(columns);
    for (std::size_t column = 0; column < columns; ++column) pattern.push_back(zap_computed(kind, row, column) ? 1 : 0);
  }
  return pattern;
}

ZapFilter zap_fold(const ZapFilter& filter, const ZapNorm& norm) {
  require(norm.variance >= 0, [&] { return "variance is " + std::to_string(norm.variance) + "; expected 0 or more"; });
  const double factor = norm.weight / std::sqrt(norm.variance + ZapNorm::epsilon);
  ZapFilter folded{.weights = filter.weights, .bias = (filter.bias - norm.mean) * factor + norm.bias};
  for (double& weight : folded.weights) weight *= factor;
  return folded;
}

std::vector<float> zap_values(std::span<const float> x, std::size_t rows, std::size_t columns,
                              std::span<const ZapPredictor> channels, int kind) {
  require_maps(x.size(), rows, columns, channels.size());
  const auto pattern = zap_pattern(kind, rows, columns);
  std::vector<float> values(x.size());
  predict<double>(
      x, rows, columns, channels, pattern,
      [](const ZapPredictor& channel) { return std::pair(channel.first.weights, channel.second.weights); },
      [](const ZapPredictor& channel, double sum) { return std::max(sum + channel.first.bias, 0.0); },
      [&](const ZapPredictor& channel, std::size_t start, std::span<const double> sums) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
          values[start + i] = pattern[i] ? 0.0F : static_cast<float>(sums[i] + channel.second.bias);
        }
      });
  return values;
}

std::vector<std::uint8_t> zap_keep(std::span<const float> values, std::size_t rows, std::size_t columns,
                                   float threshold, int kind) {
  require_maps(values.size(), rows, columns, 1);
  const auto pattern = zap_pattern(kind, rows, columns);
  std::vector<std::uint8_t> keep(values.size());
  for (std::size_t i = 0; i < keep.size(); ++i) {
    keep[i] = pattern[i % pattern.size()] || values[i] > threshold ? 1 : 0;
  }
  return keep;
}

ZapChannel zap_quantize(const ZapPredictor& predictor, double scale, double threshold) {
  require(std::isfinite(scale) && scale > 0,
          [&] { return "scale is " + std::to_string(scale) + "; expected a positive finite number"; });
  require(std::isfinite(threshold),
          [&] { return "threshold is " + std::to_string(threshold) + "; expected a finite number"; });
  require_finite(predictor.first), require_finite(predictor.second);
  ZapChannel channel;
  // Of the first filter's sums: as fine as its weights allow, unless the bias needs more than its bits.
  const double unit =
      std::max(magnitude(predictor.first) * scale / largest_weight, std::abs(predictor.first.bias) / largest_bias);
  channel.first = in_units(predictor.first, unit / scale);
  channel.bias = in_units<std::int32_t>(predictor.first.bias, unit, largest_bias);
  std::int32_t largest = channel.bias;
  for (const std::int8_t weight : channel.first) largest += largest_input * std::max<int>(weight, 0);
  std::int32_t half = 0;
  while ((largest + half) >> channel.shift > largest_hidden) half = 1 << channel.shift++;
  channel.bias += half;
  // Of the second's: the threshold takes its bias, and a sum of integers exceeds it where it exceeds its floor.
  const double weight_unit = magnitude(predictor.second) / largest_weight;
  channel.second = in_units(predictor.second, weight_unit);
  const double sums = weight_unit * std::ldexp(unit, static_cast<int>(channel.shift));
  const double rest = threshold - predictor.second.bias;
  const double limit = sums > 0 ? std::floor(rest / sums) : (rest < 0 ? -1.0 : 0.0);
  channel.threshold = static_cast<std::int32_t>(std::clamp(limit, -largest_threshold - 1, largest_threshold));
  return channel;
}

std::vector<std::uint8_t> zap_predict(std::span<const std::int8_t> x, std::size_t rows, std::size_t columns,
                                      std::span<const ZapChannel> channels, int kind) {
  require_maps(x.size(), rows, columns, channels.size());
  const auto pattern = zap_pattern(kind, rows, columns);
  std::vector<std::uint8_t> keep(x.size());
  predict<std::int32_t>(
      x, rows, columns, channels, pattern,
      [](const ZapChannel& channel) { return std::pair(channel.first, channel.second); }, zap_hidden,
      [&](const ZapChannel& channel, std::size_t start, std::span<const std::int32_t> sums) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
          keep[start + i] = pattern[i] || sums[i] > channel.threshold ? 1 : 0;
        }
      });
  return keep;
}

std::vector<std::uint32_t> zap_passes(std::span<const std::uint8_t> keep, const ZapArray& array) {
  const auto& [rows, columns, depth] = array;
  require(rows >= 1 && depth >= rows, [&] {
    return "rows are " + std::to_string(rows) + " and depth is " + std::to_string(depth) +
           "; expected 1 row or more and a depth of as many";
  });
  require(columns >= 1 && keep.size() % columns == 0 && keep.size() / columns < zap_idle, [&] {
    return std::to_string(keep.size()) + " outputs in " + std::to_string(columns) +
           " columns; expected as many in each, below 2^32 - 1";
  });
  const std::size_t places = keep.size() / columns;
  std::vector<std::deque<std::uint32_t>> queues(columns);
  std::vector<std::uint32_t> passes;
  const auto longest = [&] {
    std::size_t length = 0;
    for (const auto& queue : queues) length = std::max(length, queue.size());
    return length;
  };
  const auto pass = [&] {
    for (std::size_t row = 0; row < rows; ++row) {
      for (auto& queue : queues) {
        passes.push_back(queue.empty() ? zap_idle : queue.front());
        if (!queue.empty()) queue.pop_front();
      }
    }
  };
  detail::Pace pace;
  for (std::size_t place = 0; place < places; ++place) {
    pace(columns);
    for (std::size_t column = 0; column < columns; ++column) {
      if (keep[column * places + place]) queues[column].push_back(static_cast<std::uint32_t>(place));
    }
    if (longest() == depth) pass();
  }
  while (longest() > 0) pass();
  return passes;
}

}  // namespace narrowgauge
