// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/norm/batch_norm.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/norm/moment_stats.hpp"
#include "narrowgauge/norm/range_stats.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/affine.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {
namespace {

/// The share of the new statistic in ghost's state, and the weight of the state before.
constexpr double ghost_new = 0.25, ghost_old = 0.75;

using detail::require;

void require_finite(std::span<const float> values, const char* what) {
  detail::Pace pace;
  for (std::size_t i = 0; i < values.size(); ++i) {
    pace();
    require(std::isfinite(values[i]), [&] {
      return std::string(what) + " " + std::to_string(i) + " is " + std::to_string(values[i]) +
             "; expected a finite number";
    });
  }
}

void require_each(std::size_t size, std::size_t channels, const char* what) {
  require(size == channels, [&] {
    return std::to_string(size) + " elements of " + what + " for " + std::to_string(channels) +
           " channels; expected one for each";
  });
}

/// Numbers in a channel.
std::size_t channel_size(std::size_t size, std::size_t channels) {
  require(channels > 0 && size > 0 && size % channels == 0, [&] {
    return std::to_string(size) + " numbers are no " + std::to_string(channels) +
           " channels; expected a multiple of the channels, which are 1 or more";
  });
  return size / channels;
}

void require_options(const BatchNormRule& rule, const BatchNormOptions& options, std::size_t count) {
  require(std::isfinite(options.epsilon) && options.epsilon > 0,
          [&] { return "epsilon is " + std::to_string(options.epsilon) + "; expected a finite number above 0"; });
  if (rule.statistic == NormStatistic::range) {
    require(options.chunks > 0 && count % options.chunks == 0 && count > options.chunks, [&] {
      return "a channel of " + std::to_string(count) + " numbers is not cut into " + std::to_string(options.chunks) +
             " chunks; expected chunks of equal length, 2 or more";
    });
  }
  if (rule.statistic == NormStatistic::top_k || rule.statistic == NormStatistic::ghost) {
    require(count > 1 && options.top > 0 && options.top <= count, [&] {
      return "top is " + std::to_string(options.top) + " in a channel of " + std::to_string(count) +
             " numbers; expected 1 to the numbers of the channel, which are 2 or more";
    });
  }
}

double normal_range(double factor, std::size_t count) {
  require(count >= 2,
          [&] { return "a range of " + std::to_string(count) + " numbers has no constant; expected 2 or more"; });
  const double width = 1 + std::sqrt(std::numbers::pi * std::log(4.0));
  return factor * width / std::sqrt(2 * std::log(static_cast<double>(count)));
}

double mean_of(std::span<const float> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

/// Places of the k largest distances from the mean; the first of equal ones.
std::vector<std::size_t> farthest(std::span<const float> x, double mean, std::size_t k) {
  std::vector<std::size_t> places(x.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(k), places.end(),
                    [&](std::size_t a, std::size_t b) {
                      const double first = std::abs(x[a] - mean), second = std::abs(x[b] - mean);
                      return first != second ? first > second : a < b;
                    });
  places.resize(k);
  return places;
}

double mean_distance(std::span<const float> x, double mean) {
  double sum = 0;
  for (const float value : x) sum += std::abs(value - mean);
  return sum / static_cast<double>(x.size());
}

double mean_farthest(std::span<const float> x, double mean, std::size_t k) {
  double sum = 0;
  for (const std::size_t place : farthest(x, mean, k)) sum += std::abs(x[place] - mean);
  return sum / static_cast<double>(k);
}

/// (mean of the chunks' maxima - mean of their minima) K(n).
double range_spread(std::span<const float> x, std::size_t chunks) {
  const std::size_t length = x.size() / chunks;
  double maxima = 0, minima = 0;
  for (std::size_t at = 0; at < x.size(); at += length) {
    const auto [least, largest] = std::ranges::minmax(x.subspan(at, length));
    maxima += largest, minima += least;
  }
  return (maxima - minima) / static_cast<double>(chunks) * range_constant(length);
}

double spread_of(NormStatistic statistic, const BatchNormOptions& options, std::span<const float> x, double mean,
                 double previous) {
  switch (statistic) {
    case NormStatistic::range:
      return range_spread(x, options.chunks);
    case NormStatistic::l1:
      return std::sqrt(std::numbers::pi / 2) * mean_distance(x, mean);
    case NormStatistic::l1_raw:
      return mean_distance(x, mean);
    case NormStatistic::l2: {
      double sum = 0;
      for (const float value : x) sum += (value - mean) * (value - mean);
      return sum / static_cast<double>(x.size());
    }
    case NormStatistic::top_k:
      return top_constant(x.size()) * mean_farthest(x, mean, options.top);
    case NormStatistic::ghost:
      break;
  }
  return top_constant(x.size()) * (ghost_old * previous + ghost_new * mean_farthest(x, mean, options.top));
}

double scale_of(NormStatistic statistic, double spread, double epsilon) {
  return statistic == NormStatistic::l2 ? 1 / std::sqrt(spread + epsilon) : 1 / (spread + epsilon);
}

void push_channel(BatchNormParameters& p, const BatchNormRule& rule, const BatchNormOptions& options, double mean,
                  double spread) {
  p.mean.push_back(static_cast<float>(mean));
  p.spread.push_back(static_cast<float>(spread));
  p.scale.push_back(static_cast<float>(scale_of(rule.statistic, spread, options.epsilon)));
}

void put_on_grid(BatchNormParameters& p, const BatchNormOptions& options, std::span<const float> gamma,
                 std::span<const float> beta) {
  p.scale_used = on_norm_grid(options.grid, p.scale);
  p.gamma_used = on_norm_grid(options.grid, gamma);
  p.beta_used = on_norm_grid(options.grid, beta);
}

/// Adds the gradient that reaches the numbers of a channel through its scale: `share` is that of the scale times the
/// derivative of the scale to the spread.
void add_through_scale(NormStatistic statistic, const BatchNormOptions& options, std::span<const float> x, double mean,
                       double share, std::span<double> dx) {
  const auto count = static_cast<double>(x.size());
  const auto sign = [&](std::size_t i) { return x[i] > mean ? 1.0 : x[i] < mean ? -1.0 : 0.0; };
  switch (statistic) {
    case NormStatistic::range: {
      const std::size_t length = x.size() / options.chunks;
      const double each = share * range_constant(length) / static_cast<double>(options.chunks);
      for (std::size_t at = 0; at < x.size(); at += length) {
        const auto chunk = x.subspan(at, length);
        dx[at + static_cast<std::size_t>(std::ranges::max_element(chunk) - chunk.begin())] += each;
        dx[at + static_cast<std::size_t>(std::ranges::min_element(chunk) - chunk.begin())] -= each;
      }
      return;
    }
    case NormStatistic::l1:
    case NormStatistic::l1_raw: {
      const double each = share / count * (statistic == NormStatistic::l1 ? std::sqrt(std::numbers::pi / 2) : 1);
      double signs = 0;
      for (std::size_t i = 0; i < x.size(); ++i) signs += sign(i);
      for (std::size_t i = 0; i < x.size(); ++i) dx[i] += each * (sign(i) - signs / count);
      return;
    }
    case NormStatistic::l2:
      for (std::size_t i = 0; i < x.size(); ++i) dx[i] += share * 2 / count * (x[i] - mean);
      return;
    case NormStatistic::top_k:
    case NormStatistic::ghost: {
      const double each = share * top_constant(x.size()) / static_cast<double>(options.top) *
                          (statistic == NormStatistic::ghost ? ghost_new : 1);
      double signs = 0;
      for (const std::size_t place : farthest(x, mean, options.top)) {
        dx[place] += each * sign(place);
        signs += sign(place);
      }
      for (double& value : dx) value -= each * signs / count;
      return;
    }
  }
}

void require_channel(std::span<const std::int8_t> codes) {
  require(!codes.empty() && codes.size() <= 65536,
          [&] { return std::to_string(codes.size()) + " codes in a channel; expected 1 to 65536"; });
}

}  // namespace

RangeStats range_stats(std::span<const std::int8_t> codes, std::size_t chunks) {
  require(chunks >= 1 && chunks <= 16 && !codes.empty() && codes.size() <= 65536 && codes.size() % chunks == 0, [&] {
    return std::to_string(codes.size()) + " codes in " + std::to_string(chunks) +
           " chunks; expected 1 to 65536 codes in 1 to 16 chunks of equal length";
  });
  RangeStats stats;
  const std::size_t length = codes.size() / chunks;
  for (std::size_t at = 0; at < codes.size(); at += length) add_chunk(stats, codes.subspan(at, length));
  return stats;
}

MomentStats square_stats(std::span<const std::int8_t> codes) {
  require_channel(codes);
  MomentStats stats;
  add_squares(stats, codes);
  return stats;
}

MomentStats distance_stats(std::span<const std::int8_t> codes, std::int8_t centre) {
  require_channel(codes);
  MomentStats stats;
  add_distances(stats, codes, centre);
  return stats;
}

const BatchNormRule& find_batch_norm_rule(std::string_view name) {
  std::string names;
  for (const BatchNormRule& rule : batch_norm_rules) {
    if (rule.name == name) return rule;
    names += (names.empty() ? "" : ", ") + std::string(rule.name);
  }
  throw Error("rule of batch normalization \"" + std::string(name) + "\" is unknown; expected one of " + names);
}

double range_constant(std::size_t chunk) { return normal_range(0.175, chunk); }
double top_constant(std::size_t count) { return normal_range(0.5, count); }

std::vector<float> on_norm_grid(NormGrid grid, std::span<const float> values) {
  require_finite(values, "parameter of channel");
  std::vector<float> held(values.begin(), values.end());
  if (grid == NormGrid::bf16) {
    for (float& value : held) {
      value = static_cast<float>(decode(Format::bf16, encode(Format::bf16, double{value})));
    }
  } else if (grid == NormGrid::paper && !held.empty()) {
    const auto [least, largest] = std::ranges::minmax(values);
    const AffineQuantizer quantizer =
        affine_quantizer(find_affine_rule("quantized_pytorch"), 8, least, double{largest - least});
    for (float& value : held) value = quantizer.dequantize(quantizer.quantize(value));
  }
  return held;
}

BatchNormParameters batch_norm_parameters(const BatchNormRule& rule, const BatchNormOptions& options,
                                          std::span<const float> x, std::span<const float> gamma,
                                          std::span<const float> beta, std::span<const float> previous) {
  const std::size_t channels = gamma.size(), count = channel_size(x.size(), channels);
  require_options(rule, options, count);
  require_each(beta.size(), channels, "beta");
  if (!previous.empty()) require_each(previous.size(), channels, "the spread before");
  require_finite(x, "number");
  require_finite(previous, "spread before, of channel");
  BatchNormParameters p;
  detail::Pace pace;
  for (std::size_t c = 0; c < channels; ++c) {
    pace(count);
    const auto channel = x.subspan(c * count, count);
    const double mean = mean_of(channel);
    push_channel(p, rule, options, mean,
                 spread_of(rule.statistic, options, channel, mean, previous.empty() ? 0 : double{previous[c]}));
  }
  put_on_grid(p, options, gamma, beta);
  return p;
}

BatchNormParameters range_norm_parameters(const BatchNormRule& rule, const BatchNormOptions& options,
                                          std::span<const std::int8_t> codes, float step, float low,
                                          std::span<const float> gamma, std::span<const float> beta) {
  const std::size_t channels = gamma.size(), count = channel_size(codes.size(), channels);
  require(rule.statistic == NormStatistic::range, [&] {
    return "rule \"" + std::string(rule.name) + "\" has no integer statistics; expected range or range_calibtip";
  });
  require_options(rule, options, count);
  require_each(beta.size(), channels, "beta");
  require(std::isfinite(step) && step > 0,
          [&] { return "step is " + std::to_string(step) + "; expected a finite number above 0"; });
  require(std::isfinite(low), [&] { return "low is " + std::to_string(low) + "; expected a finite number"; });
  const double constant = range_constant(count / options.chunks);
  BatchNormParameters p;
  detail::Pace pace;
  for (std::size_t c = 0; c < channels; ++c) {
    pace(count);
    const RangeStats stats = range_stats(codes.subspan(c * count, count), options.chunks);
    const double mean = (stats.sum / static_cast<double>(count) + 128) * step + low;
    const double range = (stats.maxima - stats.minima) / static_cast<double>(options.chunks) * step;
    push_channel(p, rule, options, mean, range * constant);
  }
  put_on_grid(p, options, gamma, beta);
  return p;
}

BatchNormParameters batch_norm_running(const BatchNormRule& rule, const BatchNormOptions& options,
                                       std::span<const float> mean, std::span<const float> running,
                                       std::span<const float> gamma, std::span<const float> beta) {
  require(std::isfinite(options.epsilon) && options.epsilon > 0,
          [&] { return "epsilon is " + std::to_string(options.epsilon) + "; expected a finite number above 0"; });
  require_each(mean.size(), gamma.size(), "mean");
  require_each(running.size(), gamma.size(), "the running buffer");
  require_each(beta.size(), gamma.size(), "beta");
  require_finite(mean, "mean of channel");
  BatchNormParameters p;
  p.mean.assign(mean.begin(), mean.end());
  if (rule.divides) {
    p.spread.assign(running.begin(), running.end());
    for (const float spread : running) {
      p.scale.push_back(static_cast<float>(scale_of(rule.statistic, spread, options.epsilon)));
    }
  } else {
    p.scale.assign(running.begin(), running.end());
  }
  put_on_grid(p, options, gamma, beta);
  return p;
}

std::vector<float> batch_norm_apply(const BatchNormRule& rule, const BatchNormOptions& options,
                                    std::span<const float> x, const BatchNormParameters& p) {
  const std::size_t channels = p.mean.size(), count = channel_size(x.size(), channels);
  const auto epsilon = static_cast<float>(options.epsilon);
  std::vector<float> y(x.size());
  detail::Pace pace;
  for (std::size_t c = 0; c < channels; ++c) {
    pace(count);
    for (std::size_t i = c * count; i < (c + 1) * count; ++i) {
      const float distance = x[i] - p.mean[c];
      const float normal = rule.divides ? distance / (p.spread[c] + epsilon) : distance * p.scale_used[c];
      const float scaled = normal * p.gamma_used[c];
      y[i] = scaled + p.beta_used[c];
    }
  }
  return y;
}

BatchNormGradients batch_norm_backward(const BatchNormRule& rule, const BatchNormOptions& options,
                                       std::span<const float> x, const BatchNormParameters& p,
                                       std::span<const float> g) {
  const std::size_t channels = p.mean.size(), count = channel_size(x.size(), channels);
  require_options(rule, options, count);
  require(g.size() == x.size(), [&] {
    return std::to_string(g.size()) + " gradients for " + std::to_string(x.size()) + " numbers; expected one for each";
  });
  require_finite(x, "number");
  require_finite(g, "gradient");
  BatchNormGradients gradients;
  gradients.x.reserve(x.size());
  std::vector<double> dx(count);
  detail::Pace pace;
  for (std::size_t c = 0; c < channels; ++c) {
    pace(count);
    const auto channel = x.subspan(c * count, count), back = g.subspan(c * count, count);
    const double mean = p.mean[c], gamma = p.gamma_used[c], scale = p.scale[c];
    const double used = rule.divides ? scale : p.scale_used[c];
    double sum = 0, product = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += back[i];
      product += back[i] * (channel[i] - mean);
    }
    gradients.gamma.push_back(static_cast<float>(product * used));
    gradients.beta.push_back(static_cast<float>(sum));
    const double average = sum / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) dx[i] = (back[i] - average) * gamma * used;
    const double slope = rule.statistic == NormStatistic::l2 ? -scale * scale * scale / 2 : -scale * scale;
    add_through_scale(rule.statistic, options, channel, mean, product * gamma * slope, dx);
    for (const double value : dx) gradients.x.push_back(static_cast<float>(value));
  }
  return gradients;
}

}  // namespace narrowgauge
