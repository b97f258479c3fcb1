// SPDX-License-Identifier: Apache-2.0
// The parts of the program that its outside tests cannot reach: above all the comparison that must notice a wrong
// engine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compare.hpp"
#include "narrowgauge/error.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Compare, FindsEveryDifferenceAndTheFirst) {
  const std::vector<float> model{1, 2, 3, NAN, 0};
  EXPECT_EQ(compare(model, model).count, 0U);
  const Difference d = compare(std::vector<float>{1, 2.5F, 3, 4, -0.0F}, model);
  EXPECT_EQ(d.count, 3U);
  EXPECT_EQ(d.index, 1U);
  EXPECT_EQ(d.got, 0x40200000U);
  EXPECT_EQ(d.expected, 0x40000000U);
  EXPECT_THROW(compare(std::vector<float>{1}, model), Error);
}

TEST(Product, EqualsTheDefinitionForAnyThreadCount) {
  std::mt19937_64 rng(1);
  std::uniform_int_distribution<int> integers(-99, 99);  // sums stay exact, so order does not matter
  const std::size_t m = 37, k = 19, n = 23;
  std::vector<double> a(m * k), b(k * n), expected(m * n);
  for (double& x : a) x = integers(rng);
  for (double& x : b) x = integers(rng);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t p = 0; p < k; ++p) expected[i * n + j] += a[i * k + p] * b[p * n + j];
    }
  }
  for (const unsigned threads : {0U, 1U, 2U, 5U, 64U}) EXPECT_EQ(product_float64(a, b, m, k, n, threads), expected);
}

TEST(Sqnr, AndItsCornerCases) {
  const std::vector<double> zero{0, 0}, one{1, 1}, near{1.1, 0.9}, infinite{1, infinity}, nan{1, NAN};
  EXPECT_NEAR(sqnr_db(one, near), 20, 1e-9);
  EXPECT_EQ(sqnr_db(one, one), infinity);
  EXPECT_EQ(sqnr_db(zero, zero), infinity);
  EXPECT_EQ(sqnr_db(zero, one), -infinity);
  EXPECT_EQ(sqnr_db(one, infinite), -infinity);
  EXPECT_TRUE(std::isnan(sqnr_db(one, nan)));
}

TEST(Text, OfNumbers) {
  EXPECT_EQ(exact_number(448), "448");
  EXPECT_EQ(exact_number(-0.001953125), "-0.001953125");
  EXPECT_EQ(exact_number(std::ldexp(1.0, -127)), "2^-127");
  EXPECT_EQ(exact_number(-std::ldexp(1.5, 100)), "-1.5 x 2^100");
  EXPECT_EQ(exact_number(0), "0");
  EXPECT_EQ(exact_number(-0.0), "-0");
  EXPECT_EQ(hex(0x7E, 2), "0x7E");
  EXPECT_EQ(hex(0x40200000, 8), "0x40200000");
  EXPECT_EQ(json_number(infinity), "inf");
  EXPECT_EQ(json_number(-infinity), "-inf");
  EXPECT_EQ(json_number(NAN), "nan");
}

}  // namespace
}  // namespace narrowgauge::cli
