// SPDX-License-Identifier: Apache-2.0
// Corner cases of binary networks; verif/oracle/test_binary.py compares with vectors of others, tests/python with
// numpy.
#include "narrowgauge/binary/binary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "refused.hpp"

namespace narrowgauge {
namespace {

TEST(Binary, ProductsOfBits) {
  EXPECT_EQ(bit_products(0b0011, 0b0101, 0b1111, BitProduct::xnor_of_signs), 0b1001U);
  EXPECT_EQ(bit_products(0b0011, 0b0101, 0b1111, BitProduct::and_of_planes), 0b0001U);
  EXPECT_EQ(bit_products(0b0011, 0b0101, 0b0110, BitProduct::xnor_of_signs), 0U);
  EXPECT_EQ(xnor_dot(0, 64), -64);
  EXPECT_EQ(xnor_dot(64, 64), 64);
}

TEST(Binary, BitsBeyondTheLengthDoNotCount) {
  const std::vector<std::uint8_t> ones{0xFF, 0xFF}, zeros{0, 0};
  EXPECT_EQ(popcount_gemm(ones, ones, {}, 9, BitProduct::xnor_of_signs), std::vector<std::uint32_t>{9});
  EXPECT_EQ(popcount_gemm(zeros, zeros, {}, 9, BitProduct::xnor_of_signs), std::vector<std::uint32_t>{9});
  EXPECT_EQ(popcount_gemm(zeros, ones, ones, 9, BitProduct::xnor_of_signs), std::vector<std::uint32_t>{0});
}

TEST(Binary, ThresholdsHaveTheSignOfTheNorm) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t n = 1 + static_cast<std::uint32_t>(random() % 300);
    const double gamma = normal(random), beta = normal(random), mean = 5 * normal(random);
    const double variance = std::exp(normal(random)), scale = i % 3 ? 1 : std::exp(normal(random));
    const PopcountThreshold fused = fuse_batch_norm(gamma, beta, mean, variance, n, scale);
    for (std::uint32_t count = 0; count <= n; ++count) {
      const double dot = static_cast<double>(xnor_dot(count, n));
      const bool bit = gamma * (scale * dot - mean) / std::sqrt(variance + 1e-5) + beta >= 0;
      ASSERT_EQ(fused(count), bit) << gamma << " " << beta << " " << mean << " " << n << " " << count;
      ASSERT_EQ(fitted(fused, n)(count), bit);
    }
    ASSERT_GE(fitted(fused, n).value, 0);
    ASSERT_LE(fitted(fused, n).value, n + 1);
  }
}

TEST(Binary, ConstantBits) {
  for (const double beta : {-1.0, 0.0, 1.0}) {
    const PopcountThreshold fused = fuse_batch_norm(0, beta, 3, 1, 8);
    for (std::uint32_t count = 0; count <= 8; ++count) EXPECT_EQ(fused(count), beta >= 0);
  }
  EXPECT_EQ(fuse_batch_norm(2, 0, -1, 1, 8, 0), (PopcountThreshold{.value = 0, .at_most = false}));
  EXPECT_EQ(fuse_batch_norm(2, 0, 1, 1, 8, 0), (PopcountThreshold{.value = 9, .at_most = false}));
  // Far outside 0 to n, where the number itself would not fit.
  for (const double gamma : {1e-300, -1e-300}) {
    for (const double beta : {1e300, -1e300}) {
      const PopcountThreshold fused = fuse_batch_norm(gamma, beta, 0, 1, 8);
      for (std::uint32_t count = 0; count <= 8; ++count) EXPECT_EQ(fused(count), beta > 0);
    }
  }
}

TEST(Binary, FittedThresholds) {
  for (std::int64_t value = -3; value <= 12; ++value) {
    for (const bool at_most : {false, true}) {
      const PopcountThreshold any{.value = value, .at_most = at_most};
      for (std::uint32_t count = 0; count <= 8; ++count) EXPECT_EQ(fitted(any, 8)(count), any(count)) << value;
    }
  }
}

TEST(Binary, ReActNetsLayer) {
  const std::vector<float> x{1, -1, 0.5F, -0.0F, 0.0F, INFINITY}, shift{0.5F, -2, 0.5F};
  EXPECT_EQ(binarize(x, shift), (std::vector<std::uint8_t>{1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(binarize(x, std::vector<float>{0}), (std::vector<std::uint8_t>{1, 0, 1, 0, 0, 1}));
  const BinaryWeights weights = binarize_weights(std::vector<float>{1, -3, 0, -0.0F, 0.5F, 0.25F}, 2);
  EXPECT_EQ(weights.bits, (std::vector<std::uint8_t>{1, 0, 0, 0, 1, 1}));
  EXPECT_EQ(weights.scale, (std::vector<float>{2, 0, 0.375F}));
}

TEST(Binary, PlanesSelectRows) {
  const std::vector<std::int8_t> v{-128, 127, 1, 2, 3, 4};
  const std::vector<std::uint8_t> planes{1, 0, 1, 0, 0, 0, 1, 1, 1};
  EXPECT_EQ(plane_sums(planes, v, 2), (std::vector<std::int64_t>{-125, 131, 0, 0, -124, 133}));
}

TEST(Binary, Refused) {
  const std::vector<float> nan{NAN}, two{1, 2};
  const std::vector<std::uint8_t> one{1}, three{1, 1, 1};
  test::says([] { fuse_batch_norm(INFINITY, 0, 0, 1, 8); }, "gamma is inf; expected a finite number");
  test::says([] { fuse_batch_norm(1, 0, 0, -1, 8); }, "variance is -1");
  test::says([] { fuse_batch_norm(1, 0, 0, 1, 8, -1); }, "scale is -1");
  test::says([] { fuse_batch_norm(1, 0, 0, 1, 8, 1, 0); }, "epsilon is 0");
  test::says([] { fuse_batch_norm(1, 0, 0, 1, 0x80000000); }, "n is 2147483648");
  test::says([&] { binarize(two, {}); }, "0 shifts for 2 activations");
  test::says([&] { binarize(nan, two); }, "2 shifts for 1 activations");
  test::says([&] { binarize(two, nan); }, "a shift is NaN");
  test::says([&] { binarize(nan, std::vector<float>{0}); }, "activation 0 is NaN");
  test::says([&] { binarize_weights(two, 3); }, "2 weights are no rows of 3");
  test::says([&] { binarize_weights(nan, 1); }, "weight 0 of row 0 is nan");
  test::says([&] { popcount_gemm(one, one, {}, 0, BitProduct::and_of_planes); }, "rows have 0 bits");
  test::says([&] { popcount_gemm(three, one, {}, 9, BitProduct::and_of_planes); }, "x has 3 bytes; expected rows of 2");
  test::says([&] { popcount_gemm(one, one, three, 8, BitProduct::and_of_planes); }, "valid has 3 bytes");
  test::says([&] { plane_sums(one, std::vector<std::int8_t>{1, 2}, 1); }, "expected one for each of 2 rows");
  test::says([&] { plane_sums(one, std::vector<std::int8_t>{1, 2}, 3); }, "v has 2 elements; expected rows of 3");
}

}  // namespace
}  // namespace narrowgauge
