// SPDX-License-Identifier: Apache-2.0
// The transform of feature maps, exponents apart, soft entropy and clipping.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "narrowgauge/codec/entropy.hpp"
#include "narrowgauge/codec/exponents.hpp"
#include "narrowgauge/codec/report.hpp"
#include "narrowgauge/codec/transform.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Shape = std::vector<std::uint64_t>;

/// A map whose channels are mixtures of a few sources, and means of their own.
std::vector<float> mixed_map(std::mt19937& generator, const Shape& shape, std::size_t axis, std::size_t sources) {
  std::normal_distribution<float> normal;
  std::size_t inner = 1, total = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    total *= shape[d];
    if (d > axis) inner *= shape[d];
  }
  const std::size_t channels = shape[axis];
  std::vector<float> mixture(channels * sources), means(channels), x(total);
  for (float& m : mixture) m = normal(generator);
  for (float& m : means) m = normal(generator);
  for (std::size_t o = 0; o < total / channels / inner; ++o) {
    for (std::size_t i = 0; i < inner; ++i) {
      std::vector<float> source(sources);
      for (float& s : source) s = normal(generator);
      for (std::size_t c = 0; c < channels; ++c) {
        float sum = means[c] + 0.1F * normal(generator);
        for (std::size_t s = 0; s < sources; ++s) sum += mixture[c * sources + s] * source[s];
        x[(o * channels + c) * inner + i] = sum;
      }
    }
  }
  return x;
}

TEST(Transform, IntegersAreWhatTheRuleSays) {
  IntegerTransform t{2, {3, -5, 7, 2}, {4, -1}, 3, -10, 10};
  std::vector<std::int32_t> y(2);
  apply(t, std::vector<std::int32_t>{9, 4}, y);  // (27 - 20 + 4) / 8, (63 + 8 - 1) / 8
  EXPECT_EQ(y, (std::vector<std::int32_t>{1, 8}));
  apply(t, std::vector<std::int32_t>{-9, 4}, y);  // floor(-43 / 8), floor(-56 / 8)
  EXPECT_EQ(y, (std::vector<std::int32_t>{-6, -7}));
  t.low = 0;
  apply(t, std::vector<std::int32_t>{-9, 40}, y);
  EXPECT_EQ(y, (std::vector<std::int32_t>{0, 2}));
}

TEST(Transform, ComponentsAreThoseOfTheCovariance) {
  std::mt19937 generator(1);
  for (const std::size_t axis : {0U, 1U, 2U}) {
    const Shape shape{axis == 0 ? 12U : 6U, axis == 1 ? 12U : 20U, axis == 2 ? 12U : 9U};
    const auto x = mixed_map(generator, shape, axis, 5);
    const Transform t = calibrate_transform(x, shape, {.axis = axis, .group = 6});
    ASSERT_EQ(t.vectors.size(), 72U);
    for (std::size_t g = 0; g < 12; g += 6) {
      for (std::size_t a = g; a < g + 6; ++a) {
        if (a > g) {
          EXPECT_GE(t.variance[a - 1], t.variance[a]);
        }
        for (std::size_t b = g; b < g + 6; ++b) {
          double product = 0;
          for (std::size_t j = 0; j < 6; ++j) product += t.vectors[a * 6 + j] * t.vectors[b * 6 + j];
          EXPECT_NEAR(product, a == b, 1e-12);
        }
      }
    }
    // Components of the map have mean 0, the variances found, and no covariance.
    const Transform fine = with_step(t, t.step);
    const auto codes = forward_transform(x, shape, fine);
    const std::size_t vectors = codes.size() / 12;
    for (std::size_t a = 0; a < 6; ++a) {
      for (std::size_t b = 0; b < 6; ++b) {
        double sum = 0;
        for (std::size_t v = 0; v < vectors; ++v) sum += double(codes[a * vectors + v]) * codes[b * vectors + v];
        const double covariance = sum / static_cast<double>(vectors) * t.step * t.step;
        EXPECT_NEAR(covariance, a == b ? t.variance[a] : 0, 0.02 * t.variance[0]) << a << " " << b;
      }
    }
  }
}

TEST(Transform, ErrorsStayInTheirBounds) {
  std::mt19937 generator(2);
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t channels = 1 + generator() % 24;
    const Shape shape{2, channels, 5 + generator() % 60};
    const auto x = mixed_map(generator, shape, 1, 1 + generator() % 6);
    const Transform own = calibrate_transform(x, shape,
                                              {.basis = trial % 4 == 0 ? Basis::identity : Basis::klt,
                                               .bits = 8U - trial % 3,
                                               .matrix_bits = 8U + static_cast<unsigned>(generator() % 9),
                                               .relu = trial % 2 == 0});
    const Transform t = with_step(own, own.step * (1 + generator() % 3));  // nothing is clipped
    const auto codes = forward_transform(x, shape, t);
    const auto y = inverse_transform(codes, shape, t);
    const double forward = forward_error_bound(t), bound = error_bound(t);
    EXPECT_LT(forward, 2.0 + 70000.0 * std::ldexp(static_cast<double>(t.group), -static_cast<int>(t.matrix_bits)));
    const std::size_t inner = shape[2], n = t.group, vectors = codes.size() / channels;
    // A bias has no more bits than ng_transform has for it: those of a sum of products.
    const int index = static_cast<int>(std::bit_width(n - 1)), matrix = static_cast<int>(t.matrix_bits);
    for (std::size_t g = 0; g < t.forward.size(); ++g) {
      for (const std::int64_t bias : t.forward[g].bias) EXPECT_LT(std::llabs(bias), 1LL << (15 + matrix + index));
      for (const std::int64_t bias : t.inverse[g].bias) EXPECT_LT(std::llabs(bias), 1LL << (7 + matrix + index));
    }
    double worst = 0;
    for (std::size_t v = 0; v < vectors; ++v) {
      for (std::size_t k = 0; k < channels; ++k) {
        double exact = 0;
        for (std::size_t j = 0; j < n; ++j) {
          const std::size_t c = k / n * n + j;
          const double code = std::nearbyint(double{x[(v / inner * channels + c) * inner + v % inner]} / t.input_step);
          exact += t.vectors[k * n + j] * (code * t.input_step - t.mean[c]) / t.step;
        }
        worst = std::max(worst, std::fabs(exact - codes[k * vectors + v]));
      }
    }
    EXPECT_LE(worst, forward);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float wanted = t.relu ? std::max(x[i], 0.0F) : x[i];
      ASSERT_LE(std::fabs(double{y[i]} - wanted), bound);
      if (t.relu) {
        ASSERT_GE(y[i], 0);
      }
    }
  }
}

TEST(Transform, LargeMapsClipAndComeBack) {
  std::mt19937 generator(3);
  const Shape shape{3, 16, 10};
  auto x = mixed_map(generator, shape, 1, 4);
  const Transform t = calibrate_transform(x, shape, {.relu = false});
  for (float& value : x) value *= 1000;
  const auto codes = forward_transform(x, shape, t);
  EXPECT_EQ(std::abs(int{*std::min_element(codes.begin(), codes.end())}), 127);
  for (const float y : inverse_transform(codes, shape, t)) EXPECT_LE(std::fabs(y), transform_codes * t.output_step);
}

TEST(Transform, FilesHoldTheInverse) {
  std::mt19937 generator(4);
  for (int trial = 0; trial < 30; ++trial) {
    const std::size_t axis = generator() % 3;
    Shape shape{1 + generator() % 5, 1 + generator() % 9, 1 + generator() % 40};
    shape[axis] = 8 * (1 + generator() % 4);
    const auto x = mixed_map(generator, shape, axis, 3);
    const Transform t = calibrate_transform(x, shape,
                                            {.basis = trial % 3 ? Basis::klt : Basis::identity,
                                             .axis = axis,
                                             .group = trial % 2 ? 8U : 0U,
                                             .relu = trial % 5 != 0});
    const TransformFileOptions options{1 + generator() % most_tables, 64 + generator() % 500, trial % 4 != 0};
    const Bytes file = compress_transformed(x, shape, t, options);
    ASSERT_TRUE(is_transformed(file));
    const TransformedHead head = read_transformed_head(file);
    EXPECT_EQ(head.shape, shape);
    EXPECT_EQ(head.inverse, t.inverse);
    EXPECT_LE(head.parts.size(), options.tables);
    EXPECT_EQ(decompress_transformed(file, head), inverse_transform(forward_transform(x, shape, t), shape, t));
  }
}

TEST(Transform, ComponentsOfLikeVarianceShareATable) {
  std::mt19937 generator(5);
  const Shape shape{20, 32, 100};
  const auto x = mixed_map(generator, shape, 1, 6);
  const Transform t = calibrate_transform(x, shape);
  const Bytes one = compress_transformed(x, shape, t, {.tables = 1});
  const Bytes four = compress_transformed(x, shape, t, {.tables = 4});
  EXPECT_LT(four.size(), one.size());
  const TransformedHead head = read_transformed_head(four);
  EXPECT_GT(head.parts.size(), 1U);
  for (std::size_t c = 1; c < 6; ++c) EXPECT_LE(head.table_of[c - 1], head.table_of[c]);
}

TEST(Transform, BrokenFilesAreErrors) {
  std::mt19937 generator(6);
  const Shape shape{2, 4, 30};
  const auto x = mixed_map(generator, shape, 1, 2);
  const Bytes file = compress_transformed(x, shape, calibrate_transform(x, shape));
  const auto read = [](const Bytes& bytes) { return decompress_transformed(bytes, read_transformed_head(bytes)); };
  EXPECT_EQ(read(file).size(), x.size());
  for (std::size_t n = 0; n < file.size(); ++n)
    EXPECT_THROW(read(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n))), Error) << n;
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    Bytes wrong = file;
    wrong[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    EXPECT_THROW(read(wrong), Error) << bit;
  }
  // Heads with a right checksum over anything: an error, or a map.
  const std::size_t head = file.size() - [&] {
    std::size_t parts = 0;
    for (const auto& part : read_transformed_head(file).parts) parts += part.size;
    return parts;
  }();
  for (int trial = 0; trial < 5000; ++trial) {
    Bytes wrong = file;
    wrong[6 + generator() % (head - 10)] = static_cast<std::uint8_t>(generator());
    const std::uint32_t sum = crc32(std::span(wrong).first(head - 4));
    for (std::size_t i = 0; i < 4; ++i) wrong[head - 4 + i] = static_cast<std::uint8_t>(sum >> 8 * i);
    try {
      EXPECT_EQ(read(wrong).size(), x.size());
    } catch (const Error&) {
    }
  }
}

TEST(Transform, WhatIsWrongIsSaid) {
  const std::vector<float> x(24, 1.5F);
  const Shape shape{2, 3, 4};
  EXPECT_NO_THROW(calibrate_transform(x, shape));
  EXPECT_THROW(calibrate_transform(x, Shape{2, 3, 5}), Error);
  EXPECT_THROW(calibrate_transform(x, shape, {.axis = 3}), Error);
  EXPECT_THROW(calibrate_transform(x, shape, {.group = 2}), Error);
  EXPECT_THROW(calibrate_transform(x, shape, {.bits = 9}), Error);
  EXPECT_THROW(calibrate_transform(x, shape, {.matrix_bits = 7}), Error);
  EXPECT_THROW(calibrate_transform(x, shape, {.step = -1}), Error);
  EXPECT_THROW(calibrate_transform(x, shape, {.step = 1e-9}), Error);
  EXPECT_THROW(calibrate_transform(std::vector<float>(24), shape), Error);
  EXPECT_THROW(calibrate_transform(std::vector<float>(24, std::numeric_limits<float>::infinity()), shape), Error);
  const Transform t = calibrate_transform(x, shape);
  EXPECT_THROW(with_step(t, 0), Error);
  EXPECT_THROW(forward_transform(x, Shape{3, 2, 4}, t), Error);
  EXPECT_THROW(compress_transformed(x, shape, t, {.tables = 0}), Error);
  EXPECT_THROW(compress_transformed(x, shape, t, {.tables = 9}), Error);
  EXPECT_THROW(read_transformed_head(Bytes{'N', 'G', 'F', 'M'}), Error);
}

TEST(Transform, ReportReachesTheError) {
  std::mt19937 generator(7);
  const Shape shape{10, 16, 64};
  const auto x = mixed_map(generator, shape, 1, 3);
  const auto rates = transform_report(x, shape, 0.004);
  for (const TransformRate& rate : rates) {
    EXPECT_LE(rate.mse, 0.004) << rate.name;
    EXPECT_GT(rate.mse, 0.0035) << rate.name;
  }
  // Three sources in 16 channels: the transform is worth much here, and more tables more.
  EXPECT_LT(rates[1].bits, 0.8 * rates[0].bits);
  EXPECT_LT(rates[2].bits, rates[1].bits);
  EXPECT_TRUE(std::isnan(transform_report(x, shape, 1e-9)[0].bits));
  EXPECT_THROW(transform_report(x, shape, 0), Error);
}

TEST(Exponents, TensorsComeBack) {
  std::mt19937 generator(8);
  std::normal_distribution<float> normal(0, 0.05F);
  FloatCodes tensor{"bf16", {40, 50, 10}, {}};
  for (int i = 0; i < 20000; ++i)
    tensor.codes.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(normal(generator)) >> 16));
  const Bytes file = compress_exponents(tensor);
  EXPECT_EQ(decompress_exponents(file), tensor);
  EXPECT_LT(file.size() * 8, tensor.codes.size() * 11);  // under 3 bits of exponent, 8 of sign and mantissa
  for (const std::string_view format : {"e4m3", "e5m2"}) {
    FloatCodes bytes{format, {256, 4}, {}};
    for (unsigned i = 0; i < 1024; ++i) bytes.codes.push_back(static_cast<std::uint16_t>(i % 256));
    EXPECT_EQ(decompress_exponents(compress_exponents(bytes)), bytes);
    bytes.codes[5] = 256;
    EXPECT_THROW(compress_exponents(bytes), Error);
  }
  EXPECT_THROW(compress_exponents({"fp16", {1}, {0}}), Error);
  for (int trial = 0; trial < 500; ++trial) {
    Bytes wrong = file;
    wrong[generator() % wrong.size()] ^= static_cast<std::uint8_t>(1U << generator() % 8);
    EXPECT_THROW(decompress_exponents(wrong), Error);
  }
  for (std::size_t n = 0; n < 300; ++n) EXPECT_THROW(decompress_exponents(std::span(file).first(n)), Error);
}

TEST(SoftEntropy, NearsTheEntropyAndHasItsSlope) {
  std::mt19937 generator(9);
  std::vector<float> x(400);
  for (float& value : x) value = static_cast<float>(generator() % 16 * (generator() % 16));
  x[0] = 0;
  x[1] = 255;
  Bytes codes(x.begin(), x.end());
  EXPECT_NEAR(soft_entropy(x, 8, -50).bits, entropy(codes), 1e-9);
  for (const unsigned bits : {1U, 3U, 5U}) {
    const SoftEntropy soft = soft_entropy(x, bits, -3);
    EXPECT_LE(soft.bits, bits);
    for (const std::size_t i : {5U, 77U, 200U}) {
      constexpr float by = 0.0625F;  // exact in float32
      std::vector<float> up = x, down = x;
      up[i] = std::min(255.0F, up[i] + by);
      down[i] = std::max(0.0F, down[i] - by);
      const double slope = (soft_entropy(up, bits, -3).bits - soft_entropy(down, bits, -3).bits) / (up[i] - down[i]);
      EXPECT_NEAR(soft.gradient[i], slope, 1e-5 + 0.01 * std::fabs(slope));
    }
  }
  EXPECT_EQ(soft_entropy(std::vector<float>(9, 2.0F), 4).bits, 0);
  EXPECT_THROW(soft_entropy({}, 4), Error);
  EXPECT_THROW(soft_entropy(x, 0), Error);
  EXPECT_THROW(soft_entropy(x, 4, 1), Error);
}

TEST(ClipLimit, IsMeanAndDeviations) {
  const std::vector<float> x{0, 0, 2, 2, 0, 0, 2, 2};
  EXPECT_EQ(clip_limit(x, 0.5), 1.5);
  EXPECT_EQ(clip_limit(x), 2);
  EXPECT_THROW(clip_limit(std::vector<float>{-1, -2}), Error);
  EXPECT_THROW(clip_limit(x, 0), Error);
  const FeatureMap map = quantize_map(x, {8}, 4, 1.5F);
  EXPECT_EQ(map.values, (Bytes{0, 0, 15, 15, 0, 0, 15, 15}));
  EXPECT_EQ(map.step, 0.1F);
  EXPECT_THROW(quantize_map(x, {8}, 4, -1), Error);
}

}  // namespace
}  // namespace narrowgauge
