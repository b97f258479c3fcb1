// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "narrowgauge/codec/baselines.hpp"
#include "narrowgauge/codec/entropy.hpp"
#include "narrowgauge/codec/report.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

/// The transform under the largest step whose error is at most `mse`; none if that is below its own.
std::optional<Transform> at_error(std::span<const float> x, std::span<const std::uint64_t> shape, Transform t,
                                  double mse) {
  const auto fits = [&](double step) {
    const Transform other = with_step(t, step);
    return map_error(x, inverse_transform(forward_transform(x, shape, other), shape, other), t.relu) <= mse;
  };
  double fine = t.step, coarse = 2 * fine;
  if (!fits(fine)) return {};
  // At the end nearly every code is 0.
  for (unsigned i = 0; i < 2 * t.bits && fits(coarse); ++i) {
    fine = coarse;
    coarse *= 2;
  }
  for (int i = 0; i < 10; ++i) {
    const double middle = std::sqrt(fine * coarse);
    (fits(middle) ? fine : coarse) = middle;
  }
  return with_step(std::move(t), fine);
}

}  // namespace

std::array<CodecRate, 7> codec_report(const FeatureMap& map, std::size_t tile) {
  const auto rate = [&](std::size_t bytes) {
    return 8 * static_cast<double>(bytes) / static_cast<double>(map.values.size());
  };
  // First the one that refuses what is no map.
  const double huffman = rate(compress(map, {.tile = tile, .zero_runs = false}).size());
  const double both = rate(compress(map, {.tile = tile, .zero_runs = true}).size());
  return {{{"raw", "a byte a value", 8},
           {"entropy", "of the codes as independent numbers", entropy(map.values)},
           {"zvc", "zero-value compression: a mask, and what is not zero", rate(zvc_encode(map.values).size())},
           {"zero_rle", "runs of up to 16 zeros", rate(zero_rle_encode(map.values).size())},
           {"ebpc", "zero runs and bit planes", rate(ebpc_encode(map.values, map.is_signed).bytes())},
           {"huffman", "this file without runs of zeros", huffman},
           {"narrowgauge", "this file", both}}};
}

double map_error(std::span<const float> x, std::span<const float> y, bool relu) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = relu ? double{std::max(y[i], 0.0F)} - std::max(x[i], 0.0F) : double{y[i]} - x[i];
    sum += error * error;
  }
  return sum / static_cast<double>(x.size());
}

std::array<TransformRate, 3> transform_report(std::span<const float> x, std::span<const std::uint64_t> shape,
                                              double mse, TransformOptions options, std::size_t tile) {
  if (!(mse > 0)) throw Error("the error to reach is " + std::to_string(mse) + "; expected a number above 0");
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  options.step = 0;
  std::array<TransformRate, 3> rates{
      {{{"huffman_pre_relu", "before ReLU, channels by themselves, one code", none}, none, none},
       {{"pca_huffman", "before ReLU, principal components, one code", none}, none, none},
       {{"transform", "the same, several codes and runs of zeros", none}, none, none}}};
  for (const Basis basis : {Basis::identity, Basis::klt}) {
    options.basis = basis;
    const auto t = at_error(x, shape, calibrate_transform(x, shape, options), mse);
    if (!t) continue;
    for (TransformRate& rate : rates) {
      if ((rate.name == "huffman_pre_relu") != (basis == Basis::identity)) continue;
      const bool best = rate.name == "transform";
      const auto file = compress_transformed(x, {shape.begin(), shape.end()}, *t,
                                             {.tables = best ? most_tables : 1, .tile = tile, .zero_runs = best});
      rate.bits = 8 * static_cast<double>(file.size()) / static_cast<double>(x.size());
      rate.mse = map_error(x, decompress_transformed(file, read_transformed_head(file)), t->relu);
      rate.step = t->step;
    }
  }
  return rates;
}

}  // namespace narrowgauge
