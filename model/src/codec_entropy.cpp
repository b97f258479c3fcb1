// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "narrowgauge/codec/entropy.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {
namespace {

void check_values(std::span<const float> x) {
  if (x.empty()) throw Error("the map has no values; expected one or more");
  const auto bad = std::find_if(x.begin(), x.end(), [](float value) { return !std::isfinite(value); });
  if (bad != x.end()) throw Error("value " + std::to_string(bad - x.begin()) + " of the map is not finite");
}

}  // namespace

double entropy(std::span<const std::uint8_t> values) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t value : values) ++counts[value];
  double bits = 0;
  for (const std::size_t count : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(values.size());
    if (count > 0 && count < values.size()) bits -= share * std::log2(share);
  }
  return bits;
}

SoftEntropy soft_entropy(std::span<const float> x, unsigned bits, double sharpness) {
  check_values(x);
  if (bits < 1 || bits > 8) throw Error("bits is " + std::to_string(bits) + "; expected 1 to 8");
  if (!(sharpness < 0) || std::isinf(sharpness))
    throw Error("sharpness is " + std::to_string(sharpness) + "; expected a number below 0");
  SoftEntropy result{0, std::vector<double>(x.size())};
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const double least = *low, range = double{*high} - least;
  if (range == 0) return result;
  const std::size_t codes = std::size_t{1} << bits;
  const double scale = static_cast<double>(codes - 1) / range, count = static_cast<double>(x.size());
  std::vector<double> shares(codes), of_value(codes), weights(codes);
  const auto share_out = [&](double u) {
    // The nearest code has the largest exponent; without it exp may underflow for all.
    const double nearest = std::nearbyint(u), top = sharpness * (u - nearest) * (u - nearest);
    double sum = 0;
    for (std::size_t k = 0; k < codes; ++k) {
      const double distance = u - static_cast<double>(k);
      of_value[k] = std::exp(sharpness * distance * distance - top);
      sum += of_value[k];
    }
    for (double& share : of_value) share /= sum;
  };
  detail::Pace pace;
  for (const float value : x) {
    pace(codes);
    share_out((value - least) * scale);
    for (std::size_t k = 0; k < codes; ++k) shares[k] += of_value[k] / count;
  }
  for (std::size_t k = 0; k < codes; ++k) {
    weights[k] = shares[k] > 0 ? -std::log2(shares[k]) - std::numbers::log2e : 0;
    if (shares[k] > 0) result.bits -= shares[k] * std::log2(shares[k]);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = (x[i] - least) * scale;
    pace(codes);
    share_out(u);
    double mean_slope = 0, both = 0, weight = 0;
    for (std::size_t k = 0; k < codes; ++k) {
      const double slope = 2 * sharpness * (u - static_cast<double>(k));
      mean_slope += of_value[k] * slope;
      both += of_value[k] * slope * weights[k];
      weight += of_value[k] * weights[k];
    }
    result.gradient[i] = (both - mean_slope * weight) * scale / count;
  }
  return result;
}

double clip_limit(std::span<const float> x, double sigmas) {
  check_values(x);
  if (!(sigmas > 0) || std::isinf(sigmas))
    throw Error("sigmas is " + std::to_string(sigmas) + "; expected a number above 0");
  double sum = 0, squares = 0;
  for (const float value : x) sum += value;
  const double count = static_cast<double>(x.size()), mean = sum / count;
  detail::breathe();
  for (const float value : x) squares += (value - mean) * (value - mean);
  const double limit =
      std::min(mean + sigmas * std::sqrt(squares / count), double{*std::max_element(x.begin(), x.end())});
  if (!(limit > 0)) {
    throw Error("the map has its limit at " + std::to_string(limit) +
                "; expected one above 0, as a map behind ReLU that is not all 0 has");
  }
  return limit;
}

}  // namespace narrowgauge
