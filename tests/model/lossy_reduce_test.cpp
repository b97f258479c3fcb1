// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/reduce/lossy_reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

constexpr std::uint16_t one = 0x3F80, two = 0x4000, three = 0x4040, largest = 0x7F7F, least = 0x0001;

TEST(LossyReduce, ReciprocalsAreThoseOfFp32) {
  for (unsigned count = 1; count <= 64; ++count) {
    const auto [significand, exponent] = count_reciprocal(count);
    EXPECT_EQ(static_cast<float>(significand) / static_cast<float>(1 << 23) / static_cast<float>(1 << exponent),
              1.0F / static_cast<float>(count));
    EXPECT_EQ(significand >> 23, 1U);
  }
  EXPECT_EQ(count_reciprocal(0).significand, 0U);
}

TEST(LossyReduce, ExtremesAndCancellation) {
  Bf16Sum sum;
  EXPECT_EQ(sum.mean(0), 0);
  for (int i = 0; i < 64; ++i) sum.add(largest);
  EXPECT_EQ(sum.mean(64), largest);
  sum.add(least);  // of no use beside the others
  for (int i = 0; i < 64; ++i) sum.add(largest | 0x8000);
  EXPECT_EQ(sum.mean(1), least);
  EXPECT_EQ(sum.mean(2), 0);  // a tie, to even
  sum.add(least | 0x8000), sum.add(least | 0x8000), sum.add(least | 0x8000);
  EXPECT_EQ(sum.mean(1), 0x8002);
  sum.add(0x0002);
  EXPECT_EQ(sum.mean(1), 0);
  sum.add(0x7F80);
  EXPECT_EQ(sum.mean(5), 0x7FC0);
}

TEST(LossyReduce, OrderAndCopiesDoNotMatter) {
  std::mt19937 random(1);
  std::vector<std::array<std::uint16_t, 3>> packets(7);
  for (auto& packet : packets) {
    for (auto& code : packet) code = static_cast<std::uint16_t>(random() % 0x7F80 | (random() & 0x8000));
  }
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5, 6};
  std::array<std::uint16_t, 3> wanted{};
  for (int round = 0; round < 20; ++round) {
    LossyReducer reducer(7, 3, 2);
    for (const std::size_t worker : order) {
      EXPECT_TRUE(reducer.take(worker, 1, packets[worker]));
      EXPECT_FALSE(reducer.take(worker, 1, packets[order[0]]));
    }
    EXPECT_EQ(reducer.count(1), 7U);
    EXPECT_EQ(reducer.count(0), 0U);
    for (std::size_t i = 0; i < 3; ++i) {
      if (round == 0) wanted.at(i) = reducer.mean(1, i);
      EXPECT_EQ(reducer.mean(1, i), wanted.at(i));
    }
    reducer.close(1);
    EXPECT_EQ(reducer.mean(1, 0), 0);
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST(LossyReduce, Means) {
  LossyReducer reducer(4, 1, 1);
  for (const std::uint16_t code : {one, two, three}) {
    EXPECT_TRUE(reducer.take(code == one ? 0 : code == two ? 1 : 2, 0, std::array{code}));
  }
  EXPECT_EQ(reducer.mean(0, 0), two);  // 6 times 1/3, which FP32 rounds up
  EXPECT_THROW(reducer.take(3, 0, std::array{one, one}), Error);
  EXPECT_THROW(LossyReducer(65, 1, 1), Error);
  EXPECT_THROW(LossyReducer(1, 0, 1), Error);
}

}  // namespace
}  // namespace narrowgauge
