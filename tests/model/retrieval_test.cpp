// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/retrieval/retrieval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "refused.hpp"

namespace narrowgauge {
namespace {

TEST(Retrieval, KeysAreInTheOrderOfNumbers) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> scores{-inf, -3e38F, -1.5F, -1e-45F, -0.0F, 0.0F, 1e-38F, 1.0F, 1.0001F, 3e38F, inf};
  for (std::size_t i = 1; i < scores.size(); ++i) {
    EXPECT_LE(score_key(scores[i - 1]), score_key(scores[i]));
    EXPECT_LT(score_key(scores[i]), 1U << score_key_bits);
  }
  EXPECT_LT(score_key(-0.0F), score_key(0.0F));
  EXPECT_EQ(score_key(1.0F), 0xBF8000U);
  EXPECT_EQ(integer_key(-4, 3), 0U);
  EXPECT_EQ(integer_key(3, 3), 7U);
  EXPECT_EQ(integer_key(std::numeric_limits<std::int64_t>::min(), 64), 0U);
  EXPECT_EQ(integer_key(-1, 64), 0x7FFFFFFFFFFFFFFFU);
}

TEST(Retrieval, OneAtATimeEndsAsTopK) {
  std::vector<std::uint32_t> keys;
  for (std::uint32_t i = 0; i < 200; ++i) keys.push_back(i * 2654435761U >> 28);
  for (const std::size_t k : {1U, 8U, 200U}) {
    std::vector<Candidate> best;
    for (std::size_t i = 0; i < keys.size(); ++i) insert_candidate(best, {keys[i], i}, k);
    const std::vector<std::size_t> places = top_k(keys, k);
    ASSERT_EQ(best.size(), k);
    for (std::size_t i = 0; i < k; ++i) EXPECT_EQ(best[i], (Candidate{keys[places[i]], places[i]}));
  }
  EXPECT_EQ(top_k(std::vector<std::uint32_t>{3, 9, 9, 1, 9, 3}, 4), (std::vector<std::size_t>{1, 2, 4, 0}));
}

TEST(Retrieval, GainsAddUpToTheScore) {
  const std::vector<std::int64_t> dots{-7, -9, -2, 4, 4, 11};
  EXPECT_EQ(max_sim(dots, 3), -2 + 11);
  EXPECT_EQ(max_sim(dots, 6), 11);
  __int128 score = 0;
  for (std::size_t row = 0; row < 6; row += 3) {
    std::int64_t largest = 0;
    for (std::size_t i = row; i < row + 3; ++i) {
      score += max_sim_gain(dots[i], largest, i == row);
      largest = i == row ? dots[i] : std::max(largest, dots[i]);
    }
  }
  EXPECT_EQ(score, max_sim(dots, 3));
}

TEST(Retrieval, ScoresAreRoundedOnce) {
  const std::vector<float> dots{1.0F, -5.0F, 0x1p-24F, 0x1p-25F, 0x1p-100F, -1.0F};
  EXPECT_EQ(max_sim(dots, std::vector<std::size_t>{2}), (std::vector<float>{1.0F + 0x1p-23F}));
  EXPECT_EQ(max_sim(dots, std::vector<std::size_t>{1, 1}), (std::vector<float>{1.0F + 0x1p-23F, -6.0F}));
}

TEST(Retrieval, SharedFixedRoundsAndSaturates) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(shared_fixed(1.0F, 127, 24), 1 << 22);
  EXPECT_EQ(shared_fixed(std::nextafter(2.0F, 0.0F), 127, 24), (1 << 23) - 1);  // rounds up to 2^23
  EXPECT_EQ(shared_fixed(-std::nextafter(2.0F, 0.0F), 127, 24), -(1 << 23));
  EXPECT_EQ(shared_fixed(2.0F, 127, 24), (1 << 23) - 1);
  EXPECT_EQ(shared_fixed(0.5F, 133, 8), 0);  // a step is 1
  EXPECT_EQ(shared_fixed(-1.5F, 133, 8), -2);
  EXPECT_EQ(shared_fixed(2.5F, 133, 8), 2);
  EXPECT_EQ(shared_fixed(0x1p-149F, 1, 64), std::int64_t{1} << 39);
  EXPECT_EQ(shared_fixed(NAN, 255, 8), -128);
  EXPECT_EQ(shared_fixed(-NAN, 255, 8), -128);
  EXPECT_EQ(shared_fixed(inf, 255, 8), 127);
  EXPECT_EQ(shared_fixed(-inf, 255, 8), -128);
  std::uint32_t code = 1;
  for (int i = 0; i < 100000; ++i) {
    code = code * 1664525U + 1013904223U;
    const auto number = std::bit_cast<float>(code);
    const unsigned exponent = 1 + code % 255;
    const int bits = 2 + static_cast<int>(code >> 7) % 40;
    if (std::isnan(number)) continue;
    const double most = std::ldexp(1, bits - 1);
    const double exact =
        std::nearbyint(std::ldexp(static_cast<double>(number), bits + 125 - static_cast<int>(exponent)));
    ASSERT_EQ(static_cast<double>(shared_fixed(number, exponent, bits)), std::clamp(exact, -most, most - 1))
        << number << " under " << exponent << " in " << bits;
  }
}

TEST(Retrieval, RetrievesByTheExactScores) {
  // Three chunks of two tokens, two query tokens.
  const std::vector<float> products{1, -2, 3, -4, 0.5F, 8, -1, 0.25F, 3, -2, 2, -2};
  const RetrievalRule rule{.queries = 2, .tokens = 2, .k = 2, .exponent = 131, .product_bits = 8, .score_bits = 9};
  const std::int64_t unit = 4;  // 2^(8 + 125 - 131)
  EXPECT_EQ(retrieve(products, rule),
            (std::vector<Candidate>{{static_cast<std::uint64_t>(256 + 17 * unit / 2), 1}, {256 + 1 * unit, 0}}));
  test::says([&] { return retrieve(std::span(products).first(6), rule); }, "expected full chunks");
  RetrievalRule narrow = rule;
  narrow.score_bits = 8;
  test::says([&] { return retrieve(products, narrow); }, "expected 9 to 64");
  narrow = rule;
  narrow.exponent = 0;
  test::says([&] { return retrieve(products, narrow); }, "expected 1 to 255");
}

TEST(Retrieval, Refused) {
  const std::vector<float> dots{1, 2, 3, 4};
  test::says([&] { return top_k(std::vector<std::uint32_t>{1, 2}, 3); }, "expected 1 to the number of keys, 2");
  test::says([&] { return max_sim(std::vector<std::int64_t>{1, 2, 3}, 2); }, "expected 1 to 65536 full rows");
  test::says([&] { return max_sim(dots, std::vector<std::size_t>{2, 0}); }, "length of a chunk is 0");
  test::says([&] { return max_sim(dots, std::vector<std::size_t>{3}); }, "add up to 3 tokens");
  test::says([&] { return max_sim(std::vector<float>{NAN}, std::vector<std::size_t>{1}); }, "not finite");
}

}  // namespace
}  // namespace narrowgauge
