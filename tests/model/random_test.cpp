// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/format/random.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

TEST(Philox, KnownAnswers) {  // Random123's kat_vectors, philox4x32 10
  EXPECT_EQ(Philox4x32::block({0, 0, 0, 0}, {0, 0}),
            (Philox4x32::Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32::block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Philox4x32::Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32::block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Philox4x32::Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomFields, AreLanesOfPhiloxBlocks) {
  const std::uint64_t seed = 0x123456789ABCDEF0;
  for (const int bits : {1, 7, 8, 13, 16, 24, 32}) {
    const std::uint64_t lane = static_cast<std::uint64_t>(random_lane_bits(bits)), lanes = 128 / lane;
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 36}) {
      std::vector<std::uint32_t> fields(5000);
      random_fields(seed, first, bits, fields);
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::uint64_t n = first + i, counter = n / lanes;
        const auto block =
            Philox4x32::block({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
                              {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
        const std::uint64_t bit = n % lanes * lane;
        ASSERT_EQ(fields[i], block[bit / 32] >> bit % 32 & (0xFFFFFFFF >> (32 - bits))) << bits << " " << n;
      }
    }
  }
}

TEST(PhiloxStream, SeedAndPositionAreItsState) {
  for (const int bits : {1, 8, 16, 24}) {
    PhiloxStream stream(0xFEDCBA9876543210, bits, 1000003);
    EXPECT_EQ(stream.key(), (Philox4x32::Key{0x76543210, 0xFEDCBA98}));
    const std::uint64_t lanes = static_cast<std::uint64_t>(128 / random_lane_bits(bits));
    EXPECT_EQ(stream.counter()[0], 1000003 / lanes);
    std::vector<std::uint32_t> fields(50);
    stream.draw(fields);
    EXPECT_EQ(stream.position(), 1000053U);
    PhiloxStream resumed(stream.seed(), stream.bits(), stream.position());
    EXPECT_EQ(resumed.draw(), stream.draw());
    resumed.seek(1000003);
    for (const std::uint32_t field : fields) ASSERT_EQ(resumed.draw(), field);
    const std::uint64_t lane = 1000003 % lanes * static_cast<std::uint64_t>(random_lane_bits(bits));
    PhiloxStream again(stream.seed(), bits, 1000003);
    EXPECT_EQ(fields[0],
              Philox4x32::block(again.counter(), again.key())[lane / 32] >> lane % 32 & (0xFFFFFFFF >> (32 - bits)));
  }
}

TEST(StandardNormal, IsAccurateAndTheSameOnEveryMachine) {
  std::uint64_t state = 1, hash = 0xCBF29CE484222325;
  const auto draw = [&] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  std::vector<std::pair<double, double>> points{{1, 0}, {0x1p-53, 1}, {0.5, 0.25}, {0x1.fffffffffffffp-1, 0.125}};
  while (points.size() < 100000) points.emplace_back(1 - draw(), draw());
  for (const auto& [u, v] : points) {
    const double value = standard_normal(u, v);
    const long double radius = std::sqrt(-2 * std::log(static_cast<long double>(u)));
    const long double exact = radius * std::cos(2 * std::numbers::pi_v<long double> * v);
    ASSERT_NEAR(value, static_cast<double>(exact), 8 * 0x1p-53 * static_cast<double>(radius)) << u << " " << v;
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001B3;
  }
  EXPECT_EQ(hash, 0x69EC018D2471F10AU);  // of the bits, as recorded
}

/// One step as a matrix over GF(2): image of each unit vector.
using Matrix = std::vector<std::uint64_t>;

std::uint64_t apply(const Matrix& m, std::uint64_t x) {
  std::uint64_t y = 0;
  for (std::size_t i = 0; i < m.size(); ++i) y ^= x >> i & 1 ? m[i] : 0;
  return y;
}

Matrix power(Matrix base, std::uint64_t exponent) {
  Matrix result;
  for (std::size_t i = 0; i < base.size(); ++i) result.push_back(std::uint64_t{1} << i);
  for (; exponent; exponent >>= 1) {
    const Matrix copy = base;
    if (exponent & 1) {
      for (auto& column : result) column = apply(copy, column);
    }
    for (auto& column : base) column = apply(copy, column);
  }
  return result;
}

TEST(Lfsr, HasMaximalLength) {
  const std::vector<std::pair<int, std::vector<std::uint64_t>>> widths{{8, {3, 5, 17}},
                                                                       {16, {3, 5, 17, 257}},
                                                                       {24, {3, 5, 7, 13, 17, 241}},
                                                                       {32, {3, 5, 17, 257, 65537}},
                                                                       {40, {3, 5, 11, 17, 31, 41, 61681}},
                                                                       {48, {3, 5, 7, 13, 17, 97, 241, 257, 673}},
                                                                       {56, {3, 5, 17, 29, 43, 113, 127, 15790321}},
                                                                       {64, {3, 5, 17, 257, 641, 65537, 6700417}}};
  for (const auto& [width, primes] : widths) {
    Matrix step, identity;
    for (int i = 0; i < width; ++i) {
      Lfsr lfsr(width, std::uint64_t{1} << i);
      lfsr.step();
      step.push_back(lfsr.state());
      identity.push_back(std::uint64_t{1} << i);
    }
    const std::uint64_t period = ~std::uint64_t{0} >> (64 - width);
    EXPECT_EQ(power(step, period), identity) << width;
    for (const std::uint64_t prime : primes) {
      EXPECT_EQ(period % prime, 0U);
      EXPECT_NE(power(step, period / prime), identity) << width << " " << prime;
    }
  }
  EXPECT_THROW(Lfsr(12, 1), Error);
  for (const int width : {8, 16, 24, 32, 40, 48, 56, 64}) EXPECT_THROW(Lfsr(width, 0), Error);
  EXPECT_THROW(Lfsr(16, 1U << 16), Error);
}

TEST(Lfsr, SixteenBitsVisitAllStates) {
  Lfsr lfsr(16, 1);
  std::vector<bool> seen(1 << 16);
  for (int i = 0; i < (1 << 16) - 1; ++i) {
    ASSERT_FALSE(seen[lfsr.state()]) << i;
    seen[lfsr.state()] = true;
    lfsr.step();
  }
  EXPECT_EQ(lfsr.state(), 1U);
  Lfsr a(16, 0xACE1), b = a;
  std::uint32_t word = 0;
  for (int i = 0; i < 8; ++i) word |= a.step() << i;
  EXPECT_EQ(b.draw(8), word);
}

}  // namespace
}  // namespace narrowgauge
