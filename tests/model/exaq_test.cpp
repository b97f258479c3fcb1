// SPDX-License-Identifier: Apache-2.0
// EXAQ's corner cases, and its integers against the FP32 rule; verif/oracle/test_exaq.py compares with the authors'
// code.
#include "narrowgauge/softmax/exaq.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "refused.hpp"

namespace narrowgauge {
namespace {

float bf16(std::uint32_t code) { return std::bit_cast<float>(code << 16); }

TEST(Exaq, EqualScoresGetTheLastCode) {
  const std::vector<float> scores{3, 3, 3, -7, -7, 8};
  const std::vector<std::uint8_t> mask{1, 1, 1, 1, 1, 0};
  EXPECT_EQ(exaq_sigma(scores, mask, 3), 0);
  EXPECT_EQ(exaq_clip(0, 2), 0);
  const auto thresholds = exaq_thresholds(0, 2);
  EXPECT_EQ(exaq_codes(scores, mask, 3, thresholds), (std::vector<std::uint8_t>{3, 3, 3, 3, 3, 255}));
  const auto third = static_cast<float>(1 / 3.0);
  EXPECT_EQ(exaq_softmax(exaq_codes(scores, mask, 3, thresholds), 3, exaq_levels(0, 2)),
            (std::vector<float>{third, third, third, 0.5, 0.5, 0}));
  const std::uint16_t maximum = bf16_key(0x4040);
  EXPECT_EQ(exaq_key_code(maximum, exaq_key_thresholds(maximum, thresholds)), 3U);
}

TEST(Exaq, NothingAttended) {
  const std::vector<float> scores{1, std::nanf(""), 3, 4};
  const std::vector<std::uint8_t> mask{0, 0, 1, 1};
  const auto codes = exaq_codes(scores, mask, 2, exaq_thresholds(-3, 3));
  EXPECT_EQ(codes[0], exaq_masked);
  EXPECT_EQ(codes[1], exaq_masked);
  const auto weights = exaq_softmax(codes, 2, exaq_levels(-3, 3));
  EXPECT_EQ(weights[0], 0);
  EXPECT_EQ(weights[1], 0);
  const auto table = exaq_table(exaq_levels(-3, 3));
  const ExaqRow row = exaq_row(exaq_counts(std::span(codes).first(2), 3), table);
  EXPECT_TRUE(row.empty);
  EXPECT_EQ(row.probabilities, std::vector<float>(8));
  EXPECT_EQ(exaq_attention(std::span(codes).first(2), table, std::vector<std::int8_t>{1, 2, 3, 4}, 2),
            std::vector<float>(2));
}

TEST(Exaq, ThresholdsAreWhereTheRuleSteps) {
  std::mt19937 random(1);
  for (const int bits : {2, 3, 4}) {
    for (const double clip : {-1e-30, -0.125, -1.0, -3.7, -9.285281839370727, -18.1, -1e30}) {
      const auto thresholds = exaq_thresholds(clip, bits);
      const float low = static_cast<float>(clip), scale = static_cast<float>(((1 << bits) - 1) / -clip);
      ASSERT_TRUE(std::is_sorted(thresholds.begin(), thresholds.end()));
      const auto same = [&](float t) {
        const float above = std::clamp(t, low, 0.0F) - low;
        const auto count = std::count_if(thresholds.begin(), thresholds.end(), [&](float at) { return t >= at; });
        EXPECT_EQ(static_cast<float>(count), std::nearbyint(above * scale)) << t << " at clip " << clip;
      };
      for (const float at : thresholds) same(at), same(std::nextafter(at, -INFINITY)), same(std::nextafter(at, 0.0F));
      std::uniform_real_distribution<float> any(1.2F * low, 0);
      for (int i = 0; i < 2000; ++i) same(any(random));
      same(0), same(-INFINITY);
    }
  }
}

TEST(Exaq, KeysAreOrderedAsNumbersAre) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    ASSERT_EQ(bf16_of_key(bf16_key(static_cast<std::uint16_t>(code))), code);
  }
  for (std::uint32_t key = bf16_key(0xFF80); key < bf16_key(0x7F80); ++key) {
    const float here = bf16(bf16_of_key(static_cast<std::uint16_t>(key)));
    const float next = bf16(bf16_of_key(static_cast<std::uint16_t>(key + 1)));
    ASSERT_TRUE(here < next || (here == 0 && next == 0)) << key;
  }
}

TEST(Exaq, KeysHaveTheCodesOfTheirScores) {
  std::mt19937 random(2);
  for (int row = 0; row < 200; ++row) {
    const int bits = 2 + row % 3;
    const double clip = -std::exp(std::normal_distribution(1.0, 1.5)(random));
    const auto thresholds = exaq_thresholds(clip, bits);
    std::vector<float> scores;
    std::vector<std::uint32_t> keys;
    for (int i = 0; i < 64; ++i) {
      const auto score = static_cast<float>(std::normal_distribution(row % 7 * 10.0, -clip)(random));
      const auto code = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(i % 9 ? score : 0.0F) >> 16);
      scores.push_back(bf16(code));
      keys.push_back(bf16_key(code));
    }
    std::vector<std::uint8_t> mask(64, 1);
    mask[static_cast<std::size_t>(row % 64)] = 0;
    const std::uint64_t mask_bits = ~(std::uint64_t{1} << row % 64);
    const auto maximum = static_cast<std::uint16_t>(exaq_row_max(keys, mask_bits).value());
    const auto moved = exaq_key_thresholds(maximum, thresholds);
    const auto codes = exaq_codes(scores, mask, 64, thresholds);
    for (std::size_t i = 0; i < 64; ++i) {
      if (!mask[i]) continue;
      EXPECT_EQ(exaq_key_code(keys[i], moved), codes[i]) << row << " " << i;
    }
  }
}

TEST(Exaq, QuotientsAreRoundedOnce) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t numerator = random() >> (28 + random() % 36);
    const auto denominator = static_cast<std::uint32_t>(random() >> (36 + random() % 28));
    // Exact in FP64 and far enough from a tie of FP32: below 2^28, no quotient is within 2^-53 of one.
    const auto expected = denominator ? static_cast<float>(static_cast<double>(numerator) / denominator) : 0.0F;
    ASSERT_EQ(exaq_quotient(numerator, denominator), std::bit_cast<std::uint32_t>(expected))
        << numerator << " / " << denominator;
    ASSERT_EQ(exaq_quotient(numerator, denominator, true), expected == 0 ? 0 : std::bit_cast<std::uint32_t>(-expected));
  }
}

TEST(Exaq, ARowFromItsCounts) {
  std::mt19937 random(4);
  for (const int bits : {2, 3, 4}) {
    const auto levels = exaq_levels(-5.5, bits);
    const auto table = exaq_table(levels);
    EXPECT_EQ(table.back(), 65535);
    std::vector<std::uint8_t> codes(300);
    for (auto& code : codes) code = static_cast<std::uint8_t>(random() % (1U << bits));
    codes[7] = exaq_masked;
    std::uint32_t sum = 0;
    for (const auto code : codes) sum += code == exaq_masked ? 0U : table[code];
    const ExaqRow row = exaq_row(exaq_counts(codes, bits), table);
    EXPECT_EQ(row.sum, sum);
    EXPECT_FALSE(row.empty);
    const auto exact = exaq_softmax(codes, codes.size(), levels);
    std::vector<std::int8_t> v(codes.size());
    for (auto& value : v) value = static_cast<std::int8_t>(random());
    double product = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == exaq_masked) continue;
      // Each entry of the table is half a unit off at most, and so S is 150; both results are rounded once.
      EXPECT_NEAR(row.probabilities[codes[i]], exact[i], (0.5 + 150 * exact[i]) / sum + 0x1p-24 * exact[i]);
      product += static_cast<double>(table[codes[i]]) * v[i];
    }
    EXPECT_EQ(exaq_attention(codes, table, v, 1)[0], static_cast<float>(product / sum));
  }
}

TEST(Exaq, Refused) {
  const std::vector<std::uint8_t> one(1, 1);
  const std::vector<float> three(3, -1.0F);
  test::says([] { exaq_clip(1, 5); }, "bits is 5; expected 2 to 4");
  test::says([] { exaq_clip(-1, 2); }, "sigma is -1");
  test::says([] { exaq_levels(1, 2); }, "clip is 1.0");
  test::says([&] { exaq_codes(std::vector<float>{INFINITY}, one, 1, three); }, "score 0 of row 0 is inf");
  test::says([&] { exaq_codes(std::vector<float>(3), one, 2, three); }, "3 scores are no rows of 2");
  test::says([&] { exaq_codes(std::vector<float>(3), one, 3, three); }, "1 elements of the mask for 3 scores");
  test::says([&] { exaq_codes(std::vector<float>(1), one, 1, std::vector<float>(4)); }, "expected 3, 7 or 15");
  test::says([&] { exaq_softmax(std::vector<std::uint8_t>{4}, 1, std::vector<float>(4)); }, "expected 0 to 3");
  test::says(
      [] {
        exaq_row(std::vector<std::uint32_t>{1, 2, 0, 0}, std::vector<std::uint16_t>(4));
      },
      "the counts rise");
  test::says([] { exaq_row(std::vector<std::uint32_t>(8), std::vector<std::uint16_t>(4)); }, "8 counts for 4 entries");
  test::says([] { exaq_key_thresholds(bf16_key(0x7F80), std::vector<float>(3)); }, "the row's maximum is inf");
  test::says(
      [] {
        exaq_attention(std::vector<std::uint8_t>(2), std::vector<std::uint16_t>(4), std::vector<std::int8_t>(3), 2);
      },
      "v has 3 elements");
}

}  // namespace
}  // namespace narrowgauge
