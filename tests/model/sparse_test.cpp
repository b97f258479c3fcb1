// SPDX-License-Identifier: Apache-2.0
// N:M sparsity: masks against all masks, MVUE over all random words, compressed storage (docs/sparsity.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/luq/luq.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/sparse/metadata.hpp"
#include "narrowgauge/sparse/mvue.hpp"
#include "narrowgauge/sparse/nm_mask.hpp"
#include "narrowgauge/sparse/prune.hpp"
#include "narrowgauge/sparse/sparse_product.hpp"
#include "narrowgauge/sparse/transposable_exact.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

TEST(Metadata, SixNibblesAreLegal) {
  std::set<unsigned> legal;
  for (unsigned nibble = 0; nibble < 32; ++nibble)
    if (is_metadata(nibble)) legal.insert(nibble);
  EXPECT_EQ(legal, (std::set<unsigned>{0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110}));
  for (const unsigned nibble : legal) {
    EXPECT_EQ(std::popcount(mask_of_metadata(nibble)), 2);
    EXPECT_EQ(metadata_of(mask_of_metadata(nibble)), nibble);
    EXPECT_EQ(selected_positions(nibble), (std::array<unsigned, 2>{nibble & 3, nibble >> 2}));
  }
  EXPECT_EQ(metadata_of(0), metadata_of_none);
  EXPECT_EQ(metadata_of(0b1000), 0b1100);
  EXPECT_EQ(metadata_of(0b0010), 0b0100);
}

TEST(GreedyMask, KeepsTheMostOfAllMasks) {
  std::mt19937 generator(1);
  for (int m = 1; m <= 8; ++m) {
    for (int n = 1; n <= m; ++n) {
      for (int trial = 0; trial < 50; ++trial) {
        std::vector<std::uint64_t> a(static_cast<std::size_t>(m));
        for (std::uint64_t& x : a) x = generator() % 6;
        const auto kept = [&](std::uint64_t mask) {
          std::uint64_t sum = 0;
          for (std::size_t i = 0; i < a.size(); ++i) sum += (mask >> i & 1) != 0 ? a[i] * a[i] : 0;
          return sum;
        };
        // The first of the best, masks with low indices being first: those whose highest element is lowest, and so on.
        const std::uint64_t got = greedy_mask(a, n);
        ASSERT_EQ(std::popcount(got), n);
        for (std::uint64_t mask = 0; mask < std::uint64_t{1} << m; ++mask) {
          if (std::popcount(mask) != n) continue;
          ASSERT_LE(kept(mask), kept(got));
          if (kept(mask) == kept(got)) {
            ASSERT_GE(mask, got);
          }
        }
      }
    }
  }
  EXPECT_THROW(greedy_mask(std::vector<std::uint64_t>(4), 5), Error);
  EXPECT_THROW(greedy_mask(std::vector<std::uint64_t>(65), 2), Error);
}

TEST(Mvue12, ExpectationAndVarianceOverAllWords) {
  constexpr int r = 8;
  constexpr std::uint64_t words = 1U << r;
  for (std::uint64_t a0 = 0; a0 <= 40; ++a0) {
    for (std::uint64_t a1 = 0; a1 <= 40; ++a1) {
      const std::array<std::uint64_t, 2> a{a0, a1};
      const std::uint64_t sum = a0 + a1;
      std::array<std::uint64_t, 2> times{};
      for (std::uint32_t k = 0; k < words; ++k) {
        const Mvue12 drawn = mvue_1_2(a, k, r);
        ASSERT_EQ(drawn.magnitude, sum);
        ++times[static_cast<std::size_t>(drawn.index)];
      }
      if (sum == 0) {
        EXPECT_EQ(times[0], words);
        continue;
      }
      for (std::size_t i = 0; i < 2; ++i) {
        const auto off = static_cast<std::int64_t>(times[i] * sum) - static_cast<std::int64_t>(a[i] * words);
        ASSERT_LE(std::abs(off), static_cast<std::int64_t>(sum)) << a0 << " " << a1;
        if (std::has_single_bit(sum)) {
          ASSERT_EQ(off, 0);  // hence the expectation is a[i], and the variance:
        }
      }
      if (std::has_single_bit(sum)) {
        ASSERT_EQ((times[0] + times[1]) * sum * sum - words * (a0 * a0 + a1 * a1), words * 2 * a0 * a1);
      }
    }
  }
  EXPECT_THROW(mvue_1_2(std::array<std::uint64_t, 2>{1, 2}, 256, 8), Error);
  EXPECT_THROW(mvue_1_2(std::array<std::uint64_t, 2>{1, 2}, 0, 33), Error);
}

TEST(Mvue24, ExpectationAndVarianceOverAllWords) {
  constexpr int r = 8;
  constexpr std::uint64_t words = 1U << r;
  constexpr std::array<unsigned, 6> nibbles{0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  std::size_t exact_a = 0, exact_b = 0;
  for (unsigned code = 0; code < 9 * 9 * 9 * 9; ++code) {
    const Magnitudes4 a{code % 9, code / 9 % 9, code / 81 % 9, code / 729};
    const std::uint64_t sum = std::accumulate(a.begin(), a.end(), std::uint64_t{0});
    const auto largest = static_cast<std::size_t>(std::max_element(a.begin(), a.end()) - a.begin());
    const std::uint64_t most = a[largest], rest = sum - most;
    const bool first_regime = most < rest;
    std::array<std::uint64_t, 4> times{};
    std::array<std::uint64_t, 6> drawn_pairs{};
    std::uint64_t squares = 0;
    const PairTable table = mvue_2_4_pairs(a);
    ASSERT_EQ(std::accumulate(table.numerators.begin(), table.numerators.end(), std::uint64_t{0}), table.denominator);
    for (std::uint32_t k = 0; k < words; ++k) {
      const Mvue24 drawn = mvue_2_4(a, k, r);
      ASSERT_LT(drawn.index[0], drawn.index[1]);
      for (std::size_t i = 0; i < 2; ++i) {
        const auto lane = static_cast<std::size_t>(drawn.index[i]);
        ++times[lane];
        const std::uint64_t expected = first_regime ? sum : lane == largest ? 2 * most : 2 * rest;
        ASSERT_EQ(drawn.twice_magnitude[i], expected);
        squares += expected * expected;
      }
      const Mvue24 second = mvue_2_4_by_table(a, k, r);
      const unsigned nibble = static_cast<unsigned>(second.index[1] << 2 | second.index[0]);
      ++drawn_pairs[static_cast<std::size_t>(std::find(nibbles.begin(), nibbles.end(), nibble) - nibbles.begin())];
      for (std::size_t i = 0; i < 2; ++i) {
        const auto lane = static_cast<std::size_t>(second.index[i]);
        ASSERT_EQ(second.twice_magnitude[i], first_regime ? sum : lane == largest ? 2 * most : 2 * rest);
      }
    }
    for (std::size_t p = 0; p < 6; ++p) {
      const auto off = static_cast<std::int64_t>(drawn_pairs[p] * table.denominator) -
                       static_cast<std::int64_t>(table.numerators[p] * words);
      ASSERT_LE(std::abs(off), static_cast<std::int64_t>(table.denominator));
    }
    if (rest == 0) {  // one non-zero at most
      EXPECT_EQ(times[largest], words);
      EXPECT_EQ(times[largest == 0 ? 1 : 0], words);
      continue;
    }
    // Probabilities 2 a / S, or 1 and a / T: of the sampler to 2^-r, of the table exactly.
    const std::uint64_t whole = first_regime ? sum : rest;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint64_t share = first_regime ? 2 * a[i] : i == largest ? rest : a[i];  // over whole
      const auto off = static_cast<std::int64_t>(times[i] * whole) - static_cast<std::int64_t>(share * words);
      ASSERT_LE(std::abs(off), static_cast<std::int64_t>(whole)) << code;
      if (std::has_single_bit(whole)) {
        ASSERT_EQ(off, 0) << code;
      }
      std::uint64_t by_table = 0;
      for (std::size_t p = 0; p < 6; ++p)
        if ((mask_of_metadata(nibbles[p]) >> i & 1) != 0) by_table += table.numerators[p];
      ASSERT_EQ(by_table * whole, share * table.denominator) << code;
    }
    if (std::has_single_bit(whole)) {  // E sum y^2 = sum a^2 + variance, in quarters
      ASSERT_EQ(squares, first_regime ? words * 2 * sum * sum : words * 4 * (most * most + rest * rest)) << code;
      ++(first_regime ? exact_a : exact_b);
    }
  }
  EXPECT_GT(exact_a, 300U);
  EXPECT_GT(exact_b, 300U);
}

TEST(Mvue24, BoundaryOfTheRegimesIsOne) {
  // 2M = S: the first regime's rule, computed here, picks the same lanes for every word.
  for (const Magnitudes4& a :
       {Magnitudes4{3, 10, 5, 2}, Magnitudes4{7, 1, 8, 0}, Magnitudes4{4, 4, 0, 0}, Magnitudes4{9, 1, 3, 5}}) {
    const std::uint64_t sum = a[0] + a[1] + a[2] + a[3];
    for (std::uint32_t k = 0; k < 4096; ++k) {
      std::set<int> lanes;
      for (const std::uint64_t point : {(2 * k + 1) * sum, (2 * k + 1) * sum + (sum << 13)}) {
        int lane = 0;
        for (std::uint64_t end = a[0]; point >= end << 14; end += a[static_cast<std::size_t>(lane)]) ++lane;
        lanes.insert(lane);
      }
      const Mvue24 drawn = mvue_2_4(a, k, 12);
      ASSERT_EQ(lanes, (std::set<int>{drawn.index[0], drawn.index[1]})) << k;
    }
  }
}

TEST(Mvue24, LargestMagnitudesDoNotOverflow) {
  constexpr std::uint64_t top = (std::uint64_t{1} << 61) - 1;
  for (const std::uint32_t k : {0U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    const Mvue24 even = mvue_2_4({top, top, top, top}, k, 32);
    EXPECT_EQ(even.twice_magnitude[0], 4 * top);
    EXPECT_EQ(even.index[1] - even.index[0], 2);
    const Mvue24 tilted = mvue_2_4({1, 0, top, 0}, k, 32);
    EXPECT_EQ(tilted.index, (std::array{0, 2}));
    EXPECT_EQ(tilted.twice_magnitude, (std::array<std::uint64_t, 2>{2, 2 * top}));
  }
}

TEST(ApproximateMvue24, ExpectationOverAGrid) {
  constexpr int steps = 256;
  for (const std::array<double, 4>& a :
       {std::array<double, 4>{1, 2, 3, 4}, {0.5, 0, 3, 9}, {1, 1, 1, 1}, {100, 1, 2, 3}}) {
    std::array<double, 4> mean{};
    for (int i = 0; i < steps; ++i)
      for (int j = 0; j < steps; ++j) {
        const auto drawn = approximate_mvue_2_4(a, {(i + 0.5) / steps, (j + 0.5) / steps});
        for (std::size_t x = 0; x < 2; ++x)
          mean[static_cast<std::size_t>(drawn.index[x])] += drawn.magnitude[x] / steps / steps;
      }
    // Each of the 5 boundaries between draws is off by half a step at most.
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(mean[i], a[i], 2.5 / steps * (a[0] + a[1] + a[2] + a[3])) << i;
  }
  EXPECT_EQ(approximate_mvue_2_4({0, 0, 0, 0}, {0.5, 0.5}).index, (std::array{0, 1}));
  EXPECT_EQ(approximate_mvue_2_4({0, 0, 7, 0}, {0.9, 0.9}).index, (std::array{0, 2}));
  EXPECT_EQ(approximate_mvue_2_4({0, 0, 7, 0}, {0.9, 0.9}).magnitude, (std::array{0.0, 7.0}));
}

TEST(TransposableMask, All90) {
  const auto masks = transposable_masks_2_4();
  EXPECT_EQ(masks.size(), 90U);
  EXPECT_EQ(std::set<std::uint16_t>(masks.begin(), masks.end()).size(), 90U);
  EXPECT_EQ(masks[0], 0xCC33);  // of a zero block
  EXPECT_EQ(transposable_mask_count(2, 4), 90U);
  EXPECT_EQ(transposable_mask_count(4, 8), 116'963'796'250U);
  EXPECT_EQ(transposable_mask_count(1, 3), 6U);
  EXPECT_EQ(transposable_mask_count_paper(2, 4), 144);
  EXPECT_EQ(transposable_mask_count_paper(4, 8), 40320.0 * 5040 * 720 * 120);
}

TEST(TransposableMask, ExactIsTheBestAndGreedyAtLeastHalf) {
  std::mt19937 generator(3);
  for (int trial = 0; trial < 2000; ++trial) {
    std::array<std::uint64_t, 16> a;
    for (std::uint64_t& x : a) x = generator() % (trial % 2 == 0 ? 1000 : 4);
    const auto sum = [&](auto kept) {
      std::uint64_t total = 0;
      for (std::size_t i = 0; i < 16; ++i) total += kept(i) ? a[i] : 0;
      return total;
    };
    const auto of_mask = [&](unsigned mask) { return sum([&](std::size_t i) { return (mask >> i & 1) != 0; }); };
    const std::uint16_t best = transposable_mask_2_4(a);
    bool before = true;
    for (const std::uint16_t mask : transposable_masks_2_4()) {
      before = before && mask != best;
      ASSERT_TRUE(before ? of_mask(mask) < of_mask(best) : of_mask(mask) <= of_mask(best));
    }
    const std::vector<std::uint8_t> greedy = transposable_mask_greedy(a, 2, 4);
    for (std::size_t i = 0; i < 4; ++i) {
      int row = 0, column = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        row += greedy[4 * i + j];
        column += greedy[4 * j + i];
      }
      ASSERT_TRUE(row <= 2 && column <= 2);
    }
    ASSERT_GE(2 * sum([&](std::size_t i) { return greedy[i] != 0; }), of_mask(best));
  }
}

TEST(TransposableMask, FlowsHaveTheLargestSum) {
  std::mt19937 generator(5);
  for (const char* const name : {"2:4-T", "1:3-T", "2:3-T", "3:3-T"}) {
    const NmPattern pattern = NmPattern::of(name);
    const auto m = static_cast<std::size_t>(pattern.m);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<float> x(m * m);
      const unsigned values = trial == 0 ? 1 : trial % 2 == 0 ? 1000 : 4;
      for (float& element : x)
        element = static_cast<float>(generator() % values) * (generator() % 2 == 0 ? 1.0F : -1.0F);
      const auto sum = [&](auto kept) {
        float total = 0;
        for (std::size_t i = 0; i < m * m; ++i) total += kept(i) ? std::abs(x[i]) : 0;
        return total;
      };
      const auto fits = [&](auto kept) {
        for (std::size_t i = 0; i < m; ++i) {
          int row = 0, column = 0;
          for (std::size_t j = 0; j < m; ++j) row += kept(m * i + j), column += kept(m * j + i);
          if (row != pattern.n || column != pattern.n) return false;
        }
        return true;
      };
      const std::vector<std::uint8_t> mask = transposable_mask_exact(x, m, m, pattern);
      const auto in_mask = [&](std::size_t i) { return mask[i] != 0; };
      ASSERT_TRUE(fits(in_mask));
      float best = 0;
      if (m == 4) {
        for (const unsigned bits : transposable_masks_2_4())
          best = std::max(best, sum([&](std::size_t i) { return (bits >> i & 1) != 0; }));
      } else {
        for (unsigned bits = 0; bits < 1U << 9; ++bits) {
          const auto in_bits = [&](std::size_t i) { return (bits >> i & 1) != 0; };
          if (fits(in_bits)) best = std::max(best, sum(in_bits));
        }
      }
      ASSERT_EQ(sum(in_mask), best) << name;
    }
  }
  EXPECT_THROW(static_cast<void>(transposable_mask_exact(std::vector<float>(16), 4, 4, NmPattern::of("2:4"))), Error);
}

TEST(NmPattern, Names) {
  for (const char* name : {"2:4", "1:2", "4:8", "7:64", "2:4-T", "4:8-T", "4:8pair"})
    EXPECT_EQ(NmPattern::of(name).name(), name);
  for (const char* name : {"", "2", "2:", ":4", "2:4-", "2:4pair", "5:4", "0:4", "2:65", "2:4 ", "+2:4", "2:4-T4"})
    EXPECT_THROW(NmPattern::of(name), Error) << name;
}

TEST(Prune, PatternsHold) {
  constexpr std::size_t rows = 16, cols = 32;
  std::vector<float> x = test::normal_values(rows * cols, 5);
  x[3] = 0;
  x[17] = -0.0F;
  for (const char* name : {"1:2", "2:4", "4:8", "3:16", "2:4-T", "4:8-T", "4:8pair"}) {
    const NmPattern pattern = NmPattern::of(name);
    const PrunedMatrix pruned = prune(x, rows, cols, pattern);
    const auto m = static_cast<std::size_t>(pattern.m);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(pruned.values[i], pruned.mask[i] != 0 ? x[i] : 0);
    for (std::size_t first = 0; first < x.size(); first += m) {
      const auto kept = std::accumulate(&pruned.mask[first], &pruned.mask[first] + m, 0);
      ASSERT_TRUE(pattern.transposable ? kept <= pattern.n : kept == pattern.n) << name;
      if (pattern.pairs) {
        for (std::size_t i = 0; i < m; i += 2) ASSERT_EQ(pruned.mask[first + i], pruned.mask[first + i + 1]);
      }
    }
    if (pattern.transposable) {
      for (std::size_t col = 0; col < cols; ++col)
        for (std::size_t row = 0; row < rows; row += m) {
          int kept = 0;
          for (std::size_t i = 0; i < m; ++i) kept += pruned.mask[(row + i) * cols + col];
          ASSERT_LE(kept, pattern.n);
        }
    }
    if (!pattern.compressible()) {
      EXPECT_THROW(compress<float>(x, pruned.mask, rows, cols, pattern), Error);
      continue;
    }
    auto stored = compress<float>(pruned.values, pruned.mask, rows, cols, pattern);
    EXPECT_EQ(stored.values.size(), x.size() / 2);
    EXPECT_EQ(decompress(stored), pruned.values) << name;
    for (unsigned nibble = 0; nibble < 16; ++nibble) {
      stored.metadata[5] = static_cast<std::uint8_t>((stored.metadata[5] & 0xF) | nibble << 4);
      const bool legal = is_metadata(nibble) && (pattern.m != 2 || nibble == 4 || nibble == 14);
      if (legal) {
        EXPECT_NO_THROW(decompress(stored)) << nibble;
      } else {
        EXPECT_THROW(decompress(stored), Error) << nibble;
      }
    }
    stored.values.pop_back();
    EXPECT_THROW(decompress(stored), Error);
    EXPECT_THROW(compress<float>(x, std::vector<std::uint8_t>(x.size(), 1), rows, cols, pattern), Error);
  }
}

TEST(Prune, CodesOfPackedFp4) {
  // 12 columns are an odd number of groups: the last half byte of a row is 0.
  std::vector<std::uint8_t> codes(24), mask(24);
  std::iota(codes.begin(), codes.end(), std::uint8_t{1});
  for (const std::size_t i : {1U, 3U, 6U, 7U, 8U, 13U, 14U, 19U, 20U, 23U}) mask[i] = 1;
  const auto stored = compress<std::uint8_t>(codes, mask, 2, 12, NmPattern::of("2:4"));
  EXPECT_EQ(stored.metadata, (std::vector<std::uint8_t>{0xED, 0x04, 0xC9, 0x0C}));
  EXPECT_EQ(stored.values, (std::vector<std::uint8_t>{2, 4, 7, 8, 9, 0, 14, 15, 0, 20, 21, 24}));
  const std::vector<std::uint8_t> back = decompress(stored);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(back[i], mask[i] != 0 ? codes[i] : 0);

  const NmPattern pairs = NmPattern::of("4:8pair");
  const std::vector<float> x{1, 1, 0, 4, -3, 3, 2, 2};
  const PrunedMatrix pruned = prune(x, 1, 8, pairs);
  EXPECT_EQ(pruned.values, (std::vector<float>{0, 0, 0, 4, -3, 3, 0, 0}));  // 4 and 4 stand at the lower index
  EXPECT_EQ(compress<float>(pruned.values, pruned.mask, 1, 8, pairs).metadata, std::vector<std::uint8_t>{0b1001});
}

TEST(Prune, MvueIsUnbiasedOnNumbersOfAllSizes) {
  // The same block many times: the mean over as many words comes close. 12 standard deviations of it are allowed, of a
  // fixed seed.
  const std::array<float, 4> block{0x1p-100F, -0x1.8p-100F, 0x1.2p-101F, -0x1.9p-103F};
  constexpr std::size_t count = 20000;
  std::vector<float> x;
  for (std::size_t i = 0; i < count; ++i) x.insert(x.end(), block.begin(), block.end());
  for (const Pruning method : {Pruning::mvue, Pruning::approximate_mvue}) {
    const PrunedMatrix pruned = prune(x, count, 4, {}, {.method = method, .seed = 7});
    for (std::size_t i = 0; i < 4; ++i) {
      double mean = 0;
      for (std::size_t row = 0; row < count; ++row) mean += static_cast<double>(pruned.values[4 * row + i]) / count;
      EXPECT_NEAR(mean, block[i], 12 * 0x1.8p-100 / std::sqrt(count)) << i;
    }
    const double expected = expected_error(x, count, 4, {}, method);
    EXPECT_NEAR(relative_error(x, pruned.values), expected, expected / 20);
  }
  EXPECT_EQ(prune(x, count, 4, {}, {.method = Pruning::mvue, .seed = 1}).values,
            prune(x, count, 4, {}, {.method = Pruning::mvue, .seed = 1}).values);
}

TEST(Prune, Refusals) {
  const std::vector<float> x(8, 1.0F);
  const auto refused = [&](std::vector<float> bad, const char* pattern, PruneOptions options = {},
                           std::size_t rows = 2) {
    EXPECT_THROW(prune(bad, rows, bad.size() / rows, NmPattern::of(pattern), options), Error) << pattern;
  };
  refused(x, "4:8");    // 4 columns
  refused(x, "2:4-T");  // 2 rows
  refused({1, 2, 3, std::numeric_limits<float>::quiet_NaN()}, "2:4", {}, 1);
  refused({1, 2, 3, -std::numeric_limits<float>::infinity()}, "2:4", {}, 1);
  refused(x, "4:8", {.method = Pruning::mvue}, 1);
  refused(x, "1:2", {.method = Pruning::approximate_mvue});
  refused(x, "2:4", {.method = Pruning::mvue, .random_bits = 0});
  refused({3e38F, 3e38F}, "1:2", {.method = Pruning::mvue}, 1);  // the sum is no float32
  EXPECT_THROW(prune(x, 3, 4, {}), Error);
}

/// Formats of products with a sparse operand, and patterns.
const std::vector<std::string_view> product_formats{"nvfp4", "fp8_e4m3", "fp8_e5m2_e4m3", "luq"};
const std::vector<NmPattern> product_patterns{NmPattern{}, NmPattern::of("4:8pair")};

// Products of sizes that wrap to those that are there: rows x cols / 2 and rows x bytes of metadata.
TEST(Storage, RefusesSizesBeyond64Bits) {
  constexpr std::size_t big = std::size_t{1} << 62;
  for (const auto& [rows, cols] : {std::pair(std::size_t{64}, big), std::pair(big, std::size_t{8}),
                                   std::pair(std::size_t{32}, big), std::pair(big, big)}) {
    EXPECT_THROW(
        decompress(CompressedMatrix<float>{.rows = rows, .cols = cols, .pattern = {}, .values = {}, .metadata = {}}),
        Error);
    EXPECT_THROW(compress<float>({}, {}, rows, cols, {}), Error);
    EXPECT_THROW(nm_mask({}, rows, cols, {}), Error);
    EXPECT_THROW(transposable_mask({}, rows, cols, NmPattern::of("2:4-T"), TransposableMask::enumerate), Error);
    QuantizedMatrix q;
    q.scheme = Scheme::fp8;
    q.element = Format::e4m3;
    q.rows = rows;
    q.k = q.k_padded = cols;
    EXPECT_THROW(check(q, "the matrix"), Error);
    EXPECT_THROW(static_cast<void>(front_stage({}, rows, cols, FrontStage::mean)), Error);
    EXPECT_THROW(static_cast<void>(luq_gemm(Int4Tensor{}, LuqTensor{}, rows, rows, 4)), Error);
  }
}

TEST(SparseProduct, IsStoredAndIsTheDenseOne) {
  for (const std::string_view name : product_formats) {
    for (const NmPattern& pattern : product_patterns) {
      for (const std::size_t k : {1, 4, 17, 32, 48, 100}) {
        SCOPED_TRACE(std::string(name) + " " + pattern.name() + " " + std::to_string(k));
        const GemmFormat& format = find_gemm_format(name);
        const QuantizedMatrix q = test::sparse_product_operand(3, k, true, static_cast<unsigned>(k), format, pattern);
        const SparseOperand stored = compress_operand(q, pattern);
        const std::size_t group = pattern.pairs ? 8 : 4, unit = group / 4;
        ASSERT_EQ(stored.k_padded, (k + 31) / 32 * 32);
        ASSERT_EQ(stored.codes.size(), 3 * stored.k_padded / 2);
        ASSERT_EQ(stored.metadata.size(), 3 * stored.k_padded / group / 2);
        ASSERT_EQ(stored.scales.size(), name == "nvfp4" ? 3 * stored.k_padded / 32 : 0);
        const unsigned magnitude = name == "luq" ? 0xF : name == "nvfp4" ? 0x7 : 0x7F;
        const std::size_t groups = stored.k_padded / group;
        for (std::size_t row = 0; row < 3; ++row) {
          std::vector<std::uint8_t> codes(stored.k_padded);
          for (std::size_t g = 0; g < groups; ++g) {
            const unsigned nibble = stored.metadata[(row * groups + g) / 2] >> g % 2 * 4 & 15;
            ASSERT_TRUE(is_metadata(nibble));
            for (unsigned i = 0; i < 2 * unit; ++i)
              codes[g * group + selected_positions(nibble)[i / unit] * unit + i % unit] =
                  stored.codes[(row * groups + g) * 2 * unit + i];
          }
          for (std::size_t i = 0; i < q.k_padded; ++i) {
            const std::uint8_t code = q.codes[row * q.k_padded + i];
            EXPECT_EQ(codes[i] & magnitude, code & magnitude);
            EXPECT_TRUE((code & magnitude) == 0 || codes[i] == code);
            if (stored.scales.empty()) continue;
            EXPECT_EQ(stored.scales[row * stored.k_padded / 32 + i / 32], q.scales[row * q.blocks() + i / 16]);
          }
        }
      }
    }
  }
}

TEST(SparseProduct, RefusesWhatHasNotThePattern) {
  const NmPattern pairs = NmPattern::of("4:8pair");
  const auto row = [](std::vector<std::uint8_t> codes) {
    QuantizedMatrix q;
    q.scheme = Scheme::int4;
    q.element = Format::e3m0;
    q.rows = 1;
    q.k = q.k_padded = codes.size();
    q.codes = std::move(codes);
    return q;
  };
  EXPECT_NO_THROW(compress_operand(row({1, 1, 0, 0, 0, 1, 1, 0}), {}));
  EXPECT_THROW(compress_operand(row({1, 1, 0, 0, 0, 1, 1, 0}), pairs), Error) << "three pairs";
  EXPECT_NO_THROW(compress_operand(row({1, 1, 1, 1, 0, 0, 0, 0}), pairs));
  EXPECT_THROW(compress_operand(row({1, 1, 1, 1, 0, 0, 0, 0}), {}), Error) << "four of four";
  EXPECT_THROW(compress_operand(row({1, 8, 8, 0, 0, 0, 0, 0}), {}), Error) << "-8 is no zero";
  for (const char* name : {"1:4", "4:8", "2:4-T"}) EXPECT_THROW(product_pattern(NmPattern::of(name)), Error);
  EXPECT_EQ(product_pattern(NmPattern::of("1:2")).name(), "2:4");
  const QuantizedMatrix mx = test::normal_operand(2, 32, Scheme::mxfp8, Format::e4m3, 1);
  EXPECT_THROW(widen_operand(mx, {}), Error);
}

// Against sums in float64 over what is stored: FP8's products of two numbers of few bits are exact there.
TEST(SparseProduct, MeetsSpecialNumbersWhereAIsStored) {
  const GemmFormat& format = find_gemm_format("fp8_e5m2");
  for (const NmPattern& pattern : product_patterns) {
    const std::size_t m = 7, n = 48, k = 40;
    QuantizedMatrix a = test::sparse_product_operand(m, k, true, 3, format, pattern);
    QuantizedMatrix b = test::sparse_product_operand(n, k, false, 4, format);
    for (std::size_t column = 0; column < 40; ++column)
      b.codes[column * b.k_padded + column] = column % 3 == 0 ? 0x7F : column % 3 == 1 ? 0x7C : 0xFC;
    std::fill_n(a.codes.begin() + 8, 8, std::uint8_t{0});  // an empty group, which stores its first places
    const SparseOperand stored = compress_operand(a, pattern);
    const std::vector<float> got = gemm_sparse(a, b, pattern, 1);
    const std::size_t group = pattern.pairs ? 8 : 4, unit = group / 4;
    std::size_t numbers = 0, infinities = 0, nans = 0;
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i) {
          const std::size_t at = (r * stored.k_padded + i) / group;
          const unsigned nibble = stored.metadata[at / 2] >> at % 2 * 4 & 15, position = i % group / unit;
          if ((nibble & 3) != position && nibble >> 2 != position) continue;
          sum += decode(Format::e5m2, a.codes[r * a.k_padded + i]) * decode(Format::e5m2, b.codes[c * b.k_padded + i]);
        }
        const float expected = static_cast<float>(sum) * (a.tensor_scale * b.tensor_scale);
        const float result = got[r * n + c];
        EXPECT_TRUE(std::isnan(expected) ? std::isnan(result) : result == expected) << r << ", " << c;
        (std::isnan(result) ? nans : std::isinf(result) ? infinities : numbers) += 1;
      }
    }
    EXPECT_GT(std::min({numbers, infinities, nans}), 10U);
  }
}

TEST(SparseProduct, WideBlocksAreThoseOfTheRules) {
  // The scale of 32 elements is that of a block of 16 with the same largest one; a broken block keeps its own.
  for (const Rounding rounding : {Rounding::nearest_even, Rounding::stochastic}) {
    for (const std::size_t k : {16, 32, 40, 96}) {
      const std::vector<float> x = test::normal_values(5 * k, 9);
      const float g = 0x1.3p-9F;
      const QuantizeOptions options{.rounding = rounding, .seed = 5, .tensor_scale = g};
      QuantizeOptions wide = options;
      wide.wide_blocks = true;
      const QuantizedMatrix q = quantize(x, 5, k, Axis::rows, wide), narrow = quantize(x, 5, k, Axis::rows, options);
      for (std::size_t row = 0; row < 5; ++row) {
        for (std::size_t block = 0; block < q.blocks(); ++block) {
          const std::size_t other = std::min(block ^ 1, q.blocks() - 1), at = row * q.blocks();
          const std::uint8_t scale = q.scales[at + block];
          EXPECT_EQ(scale, std::max(narrow.scales[at + block], narrow.scales[at + other]));
          if (scale != narrow.scales[at + block]) continue;
          for (std::size_t i = block * 16; i < block * 16 + 16; ++i)
            EXPECT_EQ(q.codes[row * q.k_padded + i], narrow.codes[row * q.k_padded + i]);
        }
      }
    }
  }
  EXPECT_THROW(quantize(std::vector<float>(32), 1, 32, Axis::rows, {.rule = ScaleRule::vendor, .wide_blocks = true}),
               Error);
  EXPECT_THROW(quantize(std::vector<float>(32), 1, 32, Axis::rows, {.scheme = Scheme::mxfp4, .wide_blocks = true}),
               Error);
}

}  // namespace
}  // namespace narrowgauge
