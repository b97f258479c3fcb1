// SPDX-License-Identifier: Apache-2.0
// ZAP's patterns and its integers by hand; verif/oracle/test_zap.py compares with the authors' code.
#include "narrowgauge/sparse/zap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "refused.hpp"

namespace narrowgauge {
namespace {

TEST(Zap, KindsComputeTheirShares) {
  const std::array<std::size_t, zap_kinds> computed{100, 200, 225, 300, 360, 450, 540, 600, 675, 700, 800};
  for (int kind = 0; kind < zap_kinds; ++kind) {
    const auto pattern = zap_pattern(kind, 30, 30);
    EXPECT_EQ(static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), 1)),
              computed.at(static_cast<std::size_t>(kind)));
  }
  static_assert(zap_computed(5, 0, 0) && !zap_computed(5, 0, 1) && zap_computed(5, 1, 1));
}

/// Filters that look at one place: the one above, then the one on the right.
ZapPredictor looks(double first_bias, double second_bias) {
  ZapPredictor predictor;
  predictor.first.weights[1] = 1;
  predictor.first.bias = first_bias;
  predictor.second.weights[5] = 2;
  predictor.second.bias = second_bias;
  return predictor;
}

TEST(Zap, ValuesByHand) {
  const std::vector<float> x{1, 9, 3, 9, 5, 9, 7, 9, 9};  // kind 5 computes all places but those of 9 in odd ones
  const std::vector<ZapPredictor> one{looks(-0.5, 0.25)};
  // Place (0, 1): its right neighbour (0, 2) has nothing above. (1, 0): that of (1, 1) is (0, 1), not computed.
  // (1, 2) has no right neighbour. (2, 1): (2, 2) has (1, 2) above it, not computed.
  EXPECT_EQ(zap_values(x, 3, 3, one, 5), (std::vector<float>{0, 0.25, 0, 0.25, 0, 0.25, 0, 0.25, 0}));
  // Kind 10 leaves out (1, 1) only: its right neighbour has (0, 2) above it.
  EXPECT_EQ(zap_values(x, 3, 3, one, 10), (std::vector<float>{0, 0, 0, 0, 2 * (3 - 0.5F) + 0.25F, 0, 0, 0, 0}));
}

TEST(Zap, IntegersAreExactWhereNumbersAllow) {
  // Weights of one value fill INT8, so that only the shift rounds.
  const ZapChannel channel = zap_quantize(looks(0, 0), 1, 1.5);
  EXPECT_EQ(channel.first[1], 127);
  EXPECT_EQ(channel.second[5], 127);
  EXPECT_EQ(channel.shift, 6U);  // 127 * 127 over 2^6 is 252
  EXPECT_EQ(channel.bias, 32);
  EXPECT_EQ(zap_hidden(channel, 127 * 127), 252);
  EXPECT_EQ(zap_hidden(channel, -1000), 0);
  EXPECT_EQ(channel.threshold, static_cast<std::int32_t>(std::floor(1.5 / (2.0 / 127 * 64 / 127))));
}

TEST(Zap, ConstantsAndExtremes) {
  ZapPredictor zero;
  zero.second.bias = 1;
  EXPECT_EQ(zap_quantize(zero, 1, 0.5).threshold, -1);  // 0 is above it
  EXPECT_EQ(zap_quantize(zero, 1, 1).threshold, 0);     // and not above this
  ZapPredictor large = looks(-1e30, 1e30);
  EXPECT_EQ(zap_quantize(large, 1, 0).bias, -(1 << 22));
  large.first.bias = 1e-300;
  large.first.weights = {};
  EXPECT_EQ(zap_quantize(large, 1, 0).threshold, -(1 << 19));
  EXPECT_EQ(zap_quantize(looks(0, -1e30), 1, 0).threshold, (1 << 19) - 1);
}

TEST(Zap, SumsFitTheirBits) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    ZapPredictor predictor;
    const double spread = std::exp(std::normal_distribution(0.0, 4.0)(random));
    std::normal_distribution<double> any(0, 1);
    for (auto* filter : {&predictor.first, &predictor.second}) {
      for (double& weight : filter->weights) weight = any(random) * spread;
      filter->bias = any(random);
    }
    const ZapChannel channel = zap_quantize(predictor, std::exp(any(random)), any(random));
    std::int32_t largest = 0;
    for (const std::int32_t weight : channel.first) largest += 127 * std::max(weight, 0);
    EXPECT_LE((largest + channel.bias) >> channel.shift, 255);
    if (channel.shift > 0) {
      EXPECT_GT((largest + channel.bias) >> (channel.shift - 1), 255);
    }
    EXPECT_LT(std::abs(channel.bias), 1 << 23);
    EXPECT_LT(channel.shift, 16U);
  }
}

TEST(Zap, PassesTakeTheOldestOutputsOfFullQueues) {
  const std::uint32_t no = zap_idle;
  // Column 0 keeps places 0, 1, 3, 4, column 1 keeps 2, 4: the first queue is full at place 3, and then one is left.
  const std::vector<std::uint8_t> keep{1, 1, 0, 1, 1, 0, 0, 1, 0, 1};
  EXPECT_EQ(zap_passes(keep, {.rows = 2, .columns = 2, .depth = 3}),
            (std::vector<std::uint32_t>{0, 2, 1, no, 3, 4, 4, no}));
  EXPECT_EQ(zap_passes(keep, {.rows = 1, .columns = 2, .depth = 2}),
            (std::vector<std::uint32_t>{0, no, 1, 2, 3, 4, 4, no}));
  EXPECT_TRUE(zap_passes(std::vector<std::uint8_t>(10), {.rows = 2, .columns = 2, .depth = 3}).empty());
}

TEST(Zap, Refused) {
  const std::vector<ZapPredictor> one(1);
  test::says([] { zap_pattern(11, 2, 2); }, "kind is 11; expected 0 to 10");
  test::says([&] { zap_values(std::vector<float>(5), 2, 2, one, 5); }, "5 elements are no maps of 2 x 2 in 1 channels");
  test::says([&] { zap_values(std::vector<float>(4), 2, 2, {}, 5); }, "in 0 channels");
  test::says([] { zap_fold({}, {.variance = -1}); }, "variance is -1");
  test::says([] { zap_quantize({}, 0, 0); }, "scale is 0");
  test::says([] { zap_quantize({}, 1, INFINITY); }, "threshold is inf");
  test::says([] { zap_quantize({.first = {.weights = {NAN}}, .second = {}}, 1, 0); }, "not finite");
  test::says([] { zap_passes({}, {.rows = 2, .columns = 1, .depth = 1}); }, "rows are 2 and depth is 1");
  test::says([] { zap_passes({}, {.rows = 0}); }, "rows are 0");
  test::says([] { zap_passes({}, {.columns = 0}); }, "0 outputs in 0 columns");
  test::says([] { zap_passes(std::vector<std::uint8_t>(3), {.columns = 2}); }, "3 outputs in 2 columns");
}

}  // namespace
}  // namespace narrowgauge
