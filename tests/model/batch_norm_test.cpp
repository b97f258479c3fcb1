// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/norm/batch_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "narrowgauge/norm/moment_stats.hpp"
#include "narrowgauge/norm/norm_apply.hpp"
#include "narrowgauge/norm/range_stats.hpp"
#include "narrowgauge/norm/weight_norm.hpp"
#include "refused.hpp"

namespace narrowgauge {
namespace {

TEST(BatchNorm, StatisticsWrapAround) {
  RangeStats stats;
  const std::vector<std::int8_t> most(65536, 127), least(4096, -128);
  for (int i = 0; i < 17; ++i) add_chunk(stats, std::span(most).first(4096));
  EXPECT_EQ(stats.maxima, 17 * 127 - 4096);
  EXPECT_EQ(stats.minima, 17 * 127 - 4096);
  EXPECT_EQ(stats.sum, 17 * 4096 * 127 - (1 << 24));
  EXPECT_EQ(range_stats(most), (RangeStats{16 * 127, 16 * 127, 65536 * 127}));
  EXPECT_EQ(range_stats(least), (RangeStats{-2048, -2048, -4096 * 128}));
  EXPECT_EQ(range_stats(std::vector<std::int8_t>{-3, 5, 7, 6}, 2), (RangeStats{12, 3, 15}));
}

TEST(BatchNorm, MomentsWrapAround) {
  const std::vector<std::int8_t> least(65536, -128), most(65536, 127);
  EXPECT_EQ(square_stats(least), (MomentStats{1 << 30, -(1 << 23)}));
  EXPECT_EQ(distance_stats(most, -128), (MomentStats{255 << 16, 1 << 16}));
  MomentStats stats = square_stats(least);
  add_squares(stats, least);
  EXPECT_EQ(stats, MomentStats{});
  stats = distance_stats(most, -128);
  add_distances(stats, most, -128);
  EXPECT_EQ(stats, (MomentStats{(255 << 17) - (1 << 24), 0}));
  EXPECT_EQ(square_stats(std::vector<std::int8_t>{-3, 5, 7, 6}), (MomentStats{119, 15}));
  EXPECT_EQ(distance_stats(std::vector<std::int8_t>{-3, 5, 7, 6}, 5), (MomentStats{11, 2}));
}

TEST(BatchNorm, MomentsGiveVarianceAndDeviation) {
  std::vector<std::int8_t> codes;
  for (const int at : {-128, -3, 40}) {
    for (int i = 0; i < 7 + at % 5; ++i) codes.push_back(static_cast<std::int8_t>(at + i * i));
    const auto n = static_cast<std::int64_t>(codes.size());
    std::int64_t sum = 0, deviation = 0, variance = 0;  // times n, n, n * n
    for (const std::int8_t code : codes) sum += code;
    for (const std::int8_t code : codes) {
      deviation += std::abs(code * n - sum);
      variance += (code * n - sum) * (code * n - sum);
    }
    const MomentStats squares = square_stats(codes);
    const std::int8_t centre = mean_floor(squares.sum, codes.size());
    EXPECT_LE(centre * n, sum);
    EXPECT_GT((centre + 1) * n, sum);
    EXPECT_EQ(scaled_variance(squares, codes.size()) * n, variance);
    EXPECT_EQ(scaled_deviation(distance_stats(codes, centre), squares.sum, centre, codes.size()), deviation);
  }
}

TEST(BatchNorm, AChannelWithoutARange) {
  const std::vector<std::int8_t> codes(32, 5);
  const std::vector<float> one(1, 1.0F);
  const BatchNormRule& rule = find_batch_norm_rule("range");
  const BatchNormOptions options{.grid = NormGrid::fp32};
  const auto p = range_norm_parameters(rule, options, codes, 0.5F, 1.0F, one, one);
  EXPECT_EQ(p.mean[0], 67.5F);
  EXPECT_EQ(p.spread[0], 0);
  EXPECT_EQ(p.scale[0], 1e5F);
  const std::vector<float> x(32, 67.5F);
  EXPECT_EQ(batch_norm_apply(rule, options, x, p), std::vector<float>(32, 1.0F));
}

TEST(BatchNorm, ExtremesAreTheFirstOfEqualOnes) {
  const std::vector<float> x{0, 1, 1, 0}, g{1, 0, 0, 0}, one(1, 1.0F), zero(1, 0.0F);
  const BatchNormRule& rule = find_batch_norm_rule("range");
  const BatchNormOptions options{.grid = NormGrid::fp32, .chunks = 1};
  const auto p = batch_norm_parameters(rule, options, x, one, zero);
  const auto back = batch_norm_backward(rule, options, x, p, g);
  EXPECT_NE(back.x[1], back.x[2]);  // the first maximum takes all
  EXPECT_EQ(back.x[2], back.x[3]);  // neither is an extreme
  EXPECT_EQ(back.beta[0], 1);
  EXPECT_EQ(back.gamma[0], -0.5F * p.scale[0]);
}

TEST(BatchNorm, ThePapersGridOfOneChannelIsItsNumber) {
  EXPECT_EQ(on_norm_grid(NormGrid::paper, std::vector<float>{3.7F}), (std::vector<float>{3.7F}));
  EXPECT_EQ(on_norm_grid(NormGrid::paper, std::vector<float>{0, 255, 1.4F, 100.6F}),
            (std::vector<float>{0, 255, 1, 101}));
  EXPECT_EQ(on_norm_grid(NormGrid::bf16, std::vector<float>{1.00390625F, 1.01171875F}),
            (std::vector<float>{1.0F, 1.015625F}));
}

TEST(BatchNorm, AppliedInIntegersItIsRoundedOnce) {
  const double mean = -3.71, m = 0.8125, b = 12.3;  // m is whole in units of 2^-10
  const NormFold eight = fold_norm(mean, m, b, -10), wide = fold_norm(mean, m, b, -12);
  EXPECT_EQ(eight.multiplier, 832);
  for (int code = -128; code < 128; ++code) {
    const auto number = static_cast<std::int8_t>(code);
    const double y = (code - mean) * m + b;
    EXPECT_EQ(norm_to_int8(eight, 10, number), std::clamp(std::nearbyint(y), -128.0, 127.0)) << code;
    EXPECT_NEAR(decode(Format::bf16, norm_to_bf16(wide, -12, number)), y, std::abs(y) * 0x1p-8 + 0x1p-12) << code;
  }
  EXPECT_EQ(norm_to_int8({.multiplier = 1, .offset = 0}, 1, 1), 0);  // ties
  EXPECT_EQ(norm_to_int8({.multiplier = 1, .offset = 0}, 1, 3), 2);
  EXPECT_EQ(norm_to_int8({.multiplier = 1, .offset = 0}, 1, -1), 0);
  EXPECT_EQ(norm_to_int8({.multiplier = -32768, .offset = -8388608}, 10, 127), -128);
  EXPECT_EQ(norm_to_bf16({.multiplier = 5, .offset = -35}, -64, 7), 0);
}

TEST(BatchNorm, Refused) {
  const BatchNormRule &range = find_batch_norm_rule("range"), &top = find_batch_norm_rule("top_k");
  const std::vector<float> x(32, 1.0F), one(1, 1.0F), two(2, 1.0F);
  const std::vector<std::int8_t> codes(32);
  test::says([] { find_batch_norm_rule("l3"); }, "expected one of range, range_calibtip, l1, ");
  test::says([] { range_constant(1); }, "expected 2 or more");
  test::says([] { square_stats({}); }, "0 codes in a channel; expected 1 to 65536");
  test::says([] { distance_stats(std::vector<std::int8_t>(65537), 0); }, "65537 codes in a channel");
  test::says([&] { batch_norm_parameters(range, {}, x, {}, {}); }, "32 numbers are no 0 channels");
  test::says([&] { batch_norm_parameters(range, {}, x, one, two); }, "2 elements of beta for 1 channels");
  test::says([&] { batch_norm_parameters(range, {}, x, one, one, two); }, "2 elements of the spread before");
  test::says([&] { batch_norm_parameters(range, {.epsilon = -1}, x, one, one); }, "epsilon is -1");
  test::says([&] { batch_norm_parameters(top, {.top = 0}, x, one, one); }, "top is 0");
  test::says([&] { range_norm_parameters(top, {}, codes, 1, 0, one, one); },
             "rule \"top_k\" has no integer statistics");
  test::says([&] { range_norm_parameters(range, {}, codes, 0, 0, one, one); }, "step is 0");
  test::says([&] { range_norm_parameters(range, {}, codes, 1, INFINITY, one, one); }, "low is inf");
  test::says([&] { batch_norm_running(range, {}, one, two, one, one); }, "2 elements of the running buffer");
  test::says([&] { batch_norm_backward(range, {}, x, batch_norm_parameters(range, {}, x, one, one), one); },
             "1 gradients for 32 numbers");
  test::says([] { fold_norm(0, 33, 0, -10); }, "the multiplier is 33792.000000 units; expected a number of 16 bits");
  test::says([] { fold_norm(1e9, 1, 0, -10); }, "the offset is");
  test::says([] { fold_norm(0, 1, NAN, -10); }, "the offset is nan");
  test::says([&] { bounded_weight_norm(x, 3, {}, 1); }, "32 numbers are no 3 rows");
  test::says([&] { bounded_weight_norm(x, 1, std::vector<float>{0}, 1); }, "the norm of the magnitudes is 0");
  test::says([&] { bounded_weight_norm_backward(x, 1, {}, 1, one); }, "1 gradients for 32 weights");
}

}  // namespace
}  // namespace narrowgauge
