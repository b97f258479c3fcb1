// SPDX-License-Identifier: Apache-2.0
// PANN's golden functions against plain integers and against the tables that follow from its formulas (docs/pann.md,
// Formulas).
#include "narrowgauge/pann/pann.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "narrowgauge/error.hpp"
#include "test_values.hpp"

namespace narrowgauge::pann {
namespace {

__extension__ using Int128 = __int128;

std::vector<std::int32_t> random_codes(std::size_t count, int low, int high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<std::int32_t> pick(low, high);
  std::vector<std::int32_t> codes(count);
  for (auto& code : codes) code = pick(generator);
  return codes;
}

std::vector<float> half_normal_values(std::size_t count, unsigned seed) {
  auto x = test::normal_values(count, seed);
  for (float& v : x) v = std::abs(v);
  return x;
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(UnsignedSplit, IsTheDotProduct) {
  for (const int bits : {2, 3, 4, 6, 8, 12, 16}) {
    const int top = (1 << bits) - 1;
    const auto x = random_codes(4608, 0, top, bits), w = random_codes(4608, -(1 << (bits - 1)), top >> 1, bits + 100);
    Int128 expected = 0, positive = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected += Int128{x[i]} * w[i];
      if (w[i] > 0) positive += Int128{x[i]} * w[i];
    }
    const SplitSum sum = split_dot(x, w);
    EXPECT_EQ(sum.value(), static_cast<std::int64_t>(expected)) << bits;
    EXPECT_EQ(sum.positive, static_cast<std::uint64_t>(positive)) << bits;
    if (bits <= 8) {
      EXPECT_EQ(repeated_addition_dot(x, w), sum) << bits;
    }
    // Signed activations, offset by what makes the least of them zero.
    const auto signed_x = random_codes(4608, -(1 << (bits - 1)), top >> 1, bits + 200);
    Int128 signed_expected = 0;
    for (std::size_t i = 0; i < x.size(); ++i) signed_expected += Int128{signed_x[i]} * w[i];
    EXPECT_EQ(offset_dot(signed_x, w, 1 << (bits - 1)), static_cast<std::int64_t>(signed_expected)) << bits;
  }
}

TEST(UnsignedSplit, RefusesSignedActivations) {
  const std::vector<std::int32_t> x{3, -2}, w{1, 1}, longer{1, 1, 1};
  const std::string text = message_of([&] { split_dot(x, w); });
  EXPECT_NE(text.find("activation 1 is -2"), std::string::npos) << text;
  EXPECT_NE(text.find("offset_dot"), std::string::npos) << text;
  EXPECT_NE(message_of([&] { repeated_addition_dot(x, w); }).find("activation 1 is -2"), std::string::npos);
  EXPECT_NE(message_of([&] { offset_dot(x, w, 1); }).find("offset of 2 or more"), std::string::npos);
  EXPECT_NE(message_of([&] { split_dot(w, longer); }).find("equal lengths"), std::string::npos);
}

TEST(AccumulatorWidth, ThoseOfTheSpec) {
  EXPECT_NEAR(paper_accumulator_width(2, 2, 9 * 512), 17.17, 0.005);
  EXPECT_NEAR(paper_accumulator_width(4, 4, 9 * 512), 21.17, 0.005);
  EXPECT_EQ(signed_accumulator_width(4, 4, 9 * 512), 20);
  EXPECT_EQ(unsigned_accumulator_width(4, 4, 9 * 512), 20);
  EXPECT_EQ(unsigned_accumulator_width(2, 2, 9 * 512), 16);  // 9 x 4608 = 41472
  EXPECT_EQ(pann_accumulator_width(6, budget_additions(10, 6), 9 * 512), 19);
  EXPECT_EQ(pann_accumulator_width(6, budget_additions(16.5, 6), 9 * 512), 20);
  EXPECT_EQ(pann_accumulator_width(7, budget_additions(24, 7), 9 * 512), 21);
  EXPECT_NE(message_of([] { signed_accumulator_width(0, 4, 1); }).find("expected 1 to 16"), std::string::npos);
}

TEST(AccumulatorWidth, HoldsTheExtremesAndNoLess) {
  for (int x = 1; x <= 8; ++x)
    for (int w = 1; w <= 8; ++w)
      for (const std::uint64_t terms : {1, 2, 3, 16, 576, 4608}) {
        const auto n = static_cast<std::int64_t>(terms);
        const std::int64_t most = n << (x + w - 2);  // every product of the two most negative codes
        const int width = signed_accumulator_width(x, w, terms);
        EXPECT_LT(most, std::int64_t{1} << (width - 1));
        EXPECT_GE(most, std::int64_t{1} << (width - 2));
        const std::int64_t unsigned_most = n * ((1 << x) - 1) * ((1 << w) - 1);
        const int unsigned_width = unsigned_accumulator_width(x, w, terms);
        EXPECT_LT(unsigned_most, std::int64_t{1} << unsigned_width);
        EXPECT_GE(unsigned_most, std::int64_t{1} << (unsigned_width - 1));
      }
}

TEST(WeightQuantizer, AchievesItsAdditions) {
  const auto w = test::normal_values(100'000, 7);
  for (const double additions : {1.0, 1.167, 2.25, 2.929, 5.5, 12.3}) {
    const PannWeights q = quantize_weights(w, additions);
    EXPECT_NEAR(q.additions / additions, 1, 0.03) << additions;
    double norm = 0;
    std::int64_t sum = 0;
    std::int32_t largest = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      norm += std::abs(double{w[i]});
      sum += std::abs(q.codes[i]);
      largest = std::max(largest, std::abs(q.codes[i]));
      ASSERT_LE(std::abs(w[i] - q.step * q.codes[i]), 0.5 * q.step * (1 + 1e-12)) << "weight " << i;
    }
    EXPECT_DOUBLE_EQ(q.step, norm / (additions * 100'000));
    EXPECT_DOUBLE_EQ(q.additions, static_cast<double>(sum) / 100'000);
    EXPECT_EQ(q.storage_width, 1 + static_cast<int>(std::floor(std::log2(largest))));
    // The share that is not zero: erfc(0.282 / R).
    const auto zeros = static_cast<double>(std::count(q.codes.begin(), q.codes.end(), 0));
    EXPECT_NEAR(1 - zeros / 100'000, std::erfc(0.28209 / additions), 0.006) << additions;  // 4 sigma
  }
  EXPECT_EQ(quantize_weights(std::vector<float>(5, 0.0F), 2).storage_width, 0);
  EXPECT_NE(message_of([&] { quantize_weights(w, 0); }).find("more than 0"), std::string::npos);
  EXPECT_NE(message_of([] {
              quantize_weights(std::vector<float>{1, INFINITY}, 1);
            }).find("weight 1 is not finite"),
            std::string::npos);
}

TEST(ActivationQuantizer, IsUniformAndUnsigned) {
  const auto x = half_normal_values(10'000, 8);
  for (const int bits : {1, 2, 6, 8, 16}) {
    const PannActivations q = quantize_activations(x, bits);
    EXPECT_EQ(*std::max_element(q.codes.begin(), q.codes.end()), (1 << bits) - 1);
    EXPECT_GE(*std::min_element(q.codes.begin(), q.codes.end()), 0);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(std::abs(x[i] - q.step * q.codes[i]), 0.5 * q.step * (1 + 1e-12)) << "activation " << i;
  }
  EXPECT_NE(message_of([] {
              quantize_activations(std::vector<float>{1, -0.5F}, 4);
            }).find("activation 1 is -0.5"),
            std::string::npos);
  EXPECT_NE(message_of([&] { quantize_activations(x, 17); }).find("expected 1 to 16"), std::string::npos);
}

TEST(Budget, AdditionsOfTheEqualPowerCurve) {
  // Rows: budget of b unsigned bits; columns: bx = 3 to 8.
  constexpr struct {
    int b;
    double additions[6];
  } table[] = {
      {2, {2.833, 2.0, 1.5, 1.167, 0.929, 0.75}}, {3, {5.0, 3.625, 2.8, 2.25, 1.857, 1.562}},
      {4, {7.5, 5.5, 4.3, 3.5, 2.929, 2.5}},      {5, {10.333, 7.625, 6.0, 4.917, 4.143, 3.562}},
      {6, {13.5, 10.0, 7.9, 6.5, 5.5, 4.75}},     {8, {20.833, 15.5, 12.3, 10.167, 8.643, 7.5}},
  };
  for (const auto& row : table)
    for (int x = 3; x <= 8; ++x)
      EXPECT_NEAR(budget_additions(unsigned_budget(row.b), x), row.additions[x - 3], 0.00051) << row.b << " " << x;
}

TEST(Budget, TheoreticalOptimum) {
  constexpr struct {
    int b, x_width;
    double additions, ratio, tolerance;
  } table[] = {{2, 3, 2.833, 6.7, 0.05}, {3, 4, 3.625, 3.4, 0.05}, {4, 4, 5.5, 1.6, 0.05},
               {5, 5, 6.0, 0.62, 0.005}, {6, 5, 7.9, 0.25, 0.005}, {8, 5, 12.3, 0.03, 0.005}};
  for (const auto& row : table) {
    const BudgetSweep sweep = sweep_budget(unsigned_budget(row.b), pann_error);
    EXPECT_EQ(sweep.points.size(), 7U);
    EXPECT_EQ(sweep.best.x_width, row.x_width) << row.b;
    EXPECT_NEAR(sweep.best.additions, row.additions, 0.001) << row.b;
    EXPECT_NEAR(uniform_error(row.b, row.b) / sweep.best.loss, row.ratio, row.tolerance) << row.b;
  }
  EXPECT_NE(message_of([] { sweep_budget(1, pann_error); }).find("leaves no addition"), std::string::npos);
}

TEST(Budget, TheErrorFormulaHoldsForUniformTensors) {
  // Uniform weights have ||w||_1 / d = Mw / 4. The errors of 1024 rows are independent: their mean square is known to
  // sqrt(2 / 1024) = 4.4 %; three of that.
  std::mt19937 generator(9);
  std::uniform_real_distribution<float> weight(-0.5F, 0.5F), activation(0, 1);
  constexpr std::size_t depth = 64;
  std::vector<float> w(1024 * depth), x(1024 * depth);
  for (float& v : w) v = weight(generator);
  for (float& v : x) v = activation(generator);
  for (const auto& [x_width, additions] : {std::pair{4, 5.5}, {5, 6.0}, {6, 2.25}}) {
    // The formula's step is Mx / 2^bx, the quantizer's Mx / (2^bx - 1); the cross term is kept here.
    const double step = 1.0 / ((1 << x_width) - 1), q = step * step, r = 0.25 / (additions * additions);
    const double expected = depth / 144.0 * (q + r + q * r / 4);
    EXPECT_NEAR(dot_error(x, w, depth, x_width, additions) / expected, 1, 0.13) << x_width << " " << additions;
  }
}

TEST(Budget, MonteCarloOptimum) {
  // Gaussian weights, half-normal activations clipped at 3 sigma, as in the simulation of docs/pann.md. 4096 rows of
  // each, in groups of 16 x 16 products: a loss is known to about 2 sqrt(1 / 4096) = 3 %.
  constexpr std::size_t depth = 64, groups = 256, size = 16 * depth;
  const auto w = test::normal_values(groups * size, 11);
  auto x = half_normal_values(groups * size, 12);
  for (float& v : x) v = std::min(v, 3.0F);
  constexpr struct { int b, x_width; } table[] = {{2, 4}, {3, 5}, {4, 5}, {5, 5}, {6, 6}, {8, 6}};
  for (const auto& row : table) {
    const BudgetSweep sweep = sweep_budget(unsigned_budget(row.b), [&](int x_width, double additions) {
      double sum = 0;
      for (std::size_t start = 0; start < groups * size; start += size)
        sum +=
            dot_error(std::span(x).subspan(start, size), std::span(w).subspan(start, size), depth, x_width, additions);
      return sum / groups;
    });
    EXPECT_EQ(sweep.best.x_width, row.x_width) << row.b;
  }
}

}  // namespace
}  // namespace narrowgauge::pann
