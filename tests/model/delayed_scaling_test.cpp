// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/delayed_scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "narrowgauge/format/random.hpp"

namespace narrowgauge {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

TEST(DelayedScaling, ForgetsWhatIsOlderThanItsHistory) {
  DelayedScaling s({.history = 3});
  EXPECT_EQ(s.scale(), 1.0F);
  s.record(7);
  EXPECT_EQ(s.scale(), 448.0F / 7);
  s.record(2);
  s.record(3);
  EXPECT_EQ(s.scale(), 448.0F / 7);
  s.record(1);
  EXPECT_EQ(s.history(), (std::vector<float>{2, 3, 1}));
  EXPECT_EQ(s.scale(), 448.0F / 3);
  DelayedScaling newest({.largest = 57344, .most_recent = true});
  newest.record(7);
  newest.record(2);
  EXPECT_EQ(newest.scale(), 28672.0F);
}

TEST(DelayedScaling, KeepsItsScaleWhereThereIsNone) {
  for (const float bad : {0.0F, inf, nan}) {
    DelayedScaling s({.history = 1});
    s.record(4);
    s.record(bad);
    EXPECT_EQ(s.scale(), 112.0F) << bad;
    s.record(2);
    EXPECT_EQ(s.scale(), 224.0F) << bad;
  }
  DelayedScaling window({.history = 2});
  window.record(4);
  window.record(nan);
  window.record(8);
  EXPECT_EQ(window.scale(), 112.0F);  // the NaN is remembered still
  window.record(8);
  EXPECT_EQ(window.scale(), 56.0F);
}

TEST(DelayedScaling, Extremes) {
  DelayedScaling s({.history = 1});
  s.record(0x1p-149F);
  EXPECT_EQ(s.scale(), std::numeric_limits<float>::max());
  s.record(std::numeric_limits<float>::max());
  EXPECT_EQ(s.scale(), 448.0F / std::numeric_limits<float>::max());
  DelayedScaling margin({.history = 1, .margin = 2});
  margin.record(7);
  EXPECT_EQ(margin.scale(), 16.0F);
  DelayedScaling power({.history = 1, .power_of_two = true});
  power.record(0x1p-149F);
  EXPECT_EQ(power.scale(), 0x1p127F);
}

/// Transformer Engine's order: the quotient, the margin, then FLT_MAX for an infinity. Quotients at and beyond the end
/// of FP32, under margins of both signs.
TEST(DelayedScaling, ClampsBehindTheMargin) {
  constexpr float limit = std::numeric_limits<float>::max();
  std::size_t clamped = 0;
  for (int margin = -100; margin <= 100; ++margin) {
    for (const float largest : {448.0F, 240.0F, 57344.0F}) {
      DelayedScaling s({.largest = largest, .history = 1, .margin = margin});
      for (int exponent = -149; exponent <= 127; ++exponent) {
        for (const float a : {std::ldexp(1.0F, exponent), std::ldexp(1.75F, exponent)}) {
          if (!std::isfinite(a)) continue;
          s.record(a);
          const float quotient = largest / a, vendor = static_cast<float>(quotient / std::ldexp(1.0, margin));
          ASSERT_EQ(s.scale(), std::isinf(vendor) ? limit : vendor) << a << ", margin " << margin;
          clamped += std::isinf(quotient) && margin > 0;
        }
      }
    }
  }
  EXPECT_GT(clamped, 5000U);
}

TEST(DelayedScaling, AnOlderNanDoesNotHoldTheNewestMaximum) {
  DelayedScaling s({.history = 4, .most_recent = true});
  s.record(nan);
  EXPECT_EQ(s.scale(), 1.0F);
  s.record(7);
  EXPECT_EQ(s.scale(), 64.0F);
}

/// The definition by comparison, for maxima of all sizes and next to every change.
TEST(DelayedScaling, PowersOfTwo) {
  PhiloxStream random(5, 32);
  for (const float largest : {448.0F, 240.0F, 57344.0F}) {
    for (int i = 0; i < 20000; ++i) {
      float a =
          std::ldexp(1.0F + static_cast<float>(random.draw()) * 0x1p-32F, static_cast<int>(random.draw() % 200) - 100);
      if (i % 4 == 0) a = std::ldexp(largest, static_cast<int>(random.draw() % 100) - 50);
      if (i % 8 == 0) a = std::nextafter(a, i % 16 == 0 ? 0.0F : inf);
      DelayedScaling s({.largest = largest, .history = 1, .power_of_two = true});
      s.record(a);
      ASSERT_LE(double{a} * s.scale(), largest) << a;
      ASSERT_GT(double{a} * s.scale() * 2, largest) << a;
      ASSERT_EQ(std::ldexp(1.0F, std::ilogb(s.scale())), s.scale());
    }
  }
}

TEST(DelayedScaling, TensorScaleOfTheExactRule) {
  DelayedScaling s({.largest = 2688, .history = 2}), margin({.largest = 2688, .history = 1, .margin = 3});
  EXPECT_EQ(s.tensor_scale(), 1.0F);
  for (const float a : {1.0F, 3.0F, 0x1p-100F, std::numeric_limits<float>::max()}) {
    s.record(a);
    margin.record(a);
    EXPECT_EQ(margin.tensor_scale(), static_cast<float>(std::ldexp(double{a}, 3) / 2688)) << a;
  }
  EXPECT_EQ(s.tensor_scale(), std::numeric_limits<float>::max() / 2688);
  s.record(0x1p-149F);
  s.record(0x1p-149F);
  EXPECT_EQ(s.tensor_scale(), 0x1p-126F);
  DelayedScaling power({.history = 1, .power_of_two = true});
  power.record(0x1p-149F);
  EXPECT_EQ(power.tensor_scale(), 0x1p-127F);
}

TEST(DelayedScaling, RefusesWhatMakesNoSense) {
  EXPECT_THROW(DelayedScaling({.largest = 0}), Error);
  EXPECT_THROW(DelayedScaling({.history = 0}), Error);
  EXPECT_THROW(DelayedScaling({.margin = 101}), Error);
}

}  // namespace
}  // namespace narrowgauge
