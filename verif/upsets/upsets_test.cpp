// SPDX-License-Identifier: Apache-2.0
// Upsets whose outcome is known, and that a campaign depends on its seed and on nothing else.
#include <gtest/gtest.h>

#include <set>

#include "narrowgauge/error.hpp"
#include "upsets_fixture.hpp"

namespace narrowgauge::upsets {
namespace {

TEST_F(Upsets, AnAccumulatorsBitMakesResultsSilentlyWrong) {
  // Of seven beats only the one that begins a sum forgets what the accumulator held.
  const auto seen = flipped("u_array.gen_cells[0].gen_pe[0].gen_exact.u_pe.u_acc.acc_o", 0, 30, 0.6, 14);
  EXPECT_GE(seen[wrong], 12U);
  EXPECT_EQ(seen[error] + seen[hang], 0U);
}

TEST_F(Upsets, WordsOfABankThatAreReadLaterMakeResultsSilentlyWrong) {
  // High bits of the scales of A: all its panels meet the last panel of B.
  unsigned seen_wrong = 0;
  for (unsigned word = 0; word < 56; ++word) seen_wrong += flipped("u_a.gen_word[2].u_ram.mem", word, 5, 0.6, 1)[wrong];
  EXPECT_GE(seen_wrong, 50U);
}

TEST_F(Upsets, AWordThatNoProductUsesHasNoEffect) {
  EXPECT_EQ(flipped("u_a.gen_word[0].u_ram.mem", 60, 7, 0.3, 5)[none], 5U);
  EXPECT_EQ(flipped("u_b.gen_word[2].u_ram.mem", 127, 0, 0.3, 5)[none], 5U);
}

TEST_F(Upsets, TheRegisterOfErrorsIsReported) { EXPECT_EQ(flipped("error_q", 0, 0, 0.5, 3)[error], 3U); }

TEST_F(Upsets, TheCountOfFinishedCommandsIsReported) { EXPECT_EQ(flipped("u_done.count_o", 0, 0, 0.5, 3)[error], 3U); }

TEST_F(Upsets, TheBitFlipsInItsCycleAndNotBefore) {
  const Flip flip{find("u_a.gen_word[0].u_ram.mem"), 60, 7, 3};
  TilePins pins;
  tile_->reset(pins);
  const bool before = tile_->bit(flip);
  tile_->arm(flip, 100);
  for (int cycle = 1; cycle <= 5; ++cycle) {
    tile_->cycle(pins);
    EXPECT_EQ(tile_->bit(flip), before != (cycle >= 3)) << cycle;
  }
}

TEST_F(Upsets, ARunMayNotReachItsLastCycle) {
  TilePins pins;
  tile_->reset(pins);
  tile_->arm({}, 2);
  tile_->cycle(pins);
  tile_->cycle(pins);
  EXPECT_THROW(tile_->cycle(pins), TooLong);
}

TEST_F(Upsets, AResetLeavesNothingOfAFlip) {
  const Flip flip{find("u_a.gen_word[0].u_ram.mem"), 3, 0, window_.begin + 10};
  workload_.run(*tile_, flip, window_);
  const Workload::Window again = workload_.window(*tile_);  // compares with the golden model
  EXPECT_EQ(again.both, window_.both);
}

TEST_F(Upsets, AllThatHardwareHasIsThere) {
  // Two banks of 64 images of 72 bits a side, and queues; flip-flops within the count of the recorded netlist's order.
  std::uint64_t memory = 0, flops = 0;
  std::set<std::string> blocks;
  for (const Register& item : registers()) {
    (item.words > 1 ? memory : flops) += item.size();
    blocks.insert(item.block);
  }
  EXPECT_GE(memory, 2U * 2 * 64 * 72);
  EXPECT_GT(flops, 1800U);
  EXPECT_LT(flops, 2500U);
  EXPECT_GE(blocks.size(), 20U);
}

TEST(Campaign, OneSeedGivesOneTable) {
  const Report one = campaign({.flips = 220, .seed = 5, .threads = 1}),
               two = campaign({.flips = 220, .seed = 5, .threads = 2});
  EXPECT_EQ(one, two);
  EXPECT_EQ(one.errors, two.errors);
  EXPECT_FALSE(one == campaign({.flips = 220, .seed = 6, .threads = 1}));
  std::array<std::uint64_t, outcomes> sum{};
  for (const Block& block : one.blocks)
    for (std::size_t i = 0; i < outcomes; ++i) sum[i] += block.count[i];
  for (std::size_t i = 0; i < outcomes; ++i) EXPECT_GT(sum[i], 0U) << outcome_key[i];
}

TEST(Campaign, ASumHasTheCountsOfBoth) {
  const Report one = campaign({.flips = 44, .seed = 5, .threads = 1}),
               two = campaign({.flips = 88, .seed = 6, .threads = 1});
  Report sum = one;
  sum += two;
  for (std::size_t i = 0; i < sum.blocks.size(); ++i)
    for (std::size_t j = 0; j < outcomes; ++j)
      EXPECT_EQ(sum.blocks[i].count[j], one.blocks[i].count[j] + two.blocks[i].count[j]) << sum.blocks[i].name;
  Report other = two;
  other.blocks.pop_back();
  EXPECT_THROW(sum += other, Error);
}

TEST(Shares, IntervalsAreWilsons) {
  const Share half = share(50, 100);
  EXPECT_NEAR(half.low, 0.4038, 1e-4);
  EXPECT_NEAR(half.high, 0.5962, 1e-4);
  EXPECT_EQ(share(0, 100).low, 0.0);
  EXPECT_NEAR(share(0, 100).high, 0.0370, 1e-4);
  EXPECT_NEAR(share(100, 100).low, 0.9630, 1e-4);
}

TEST(Shares, BlocksWeighByTheirBits) {
  Report report;
  report.blocks = {{.name = "large", .bits = 900, .count = {50, 50, 0, 0}},
                   {.name = "small", .bits = 100, .count = {0, 100, 0, 0}}};
  report.bits = 1000;
  const Share all = weighted(report, Outcome::wrong);
  EXPECT_NEAR(all.share, 0.55, 1e-12);
  EXPECT_GT(all.low, 0.45);
  EXPECT_LT(all.high, 0.65);
  EXPECT_EQ(weighted(report, Outcome::hang).share, 0.0);
}

}  // namespace
}  // namespace narrowgauge::upsets
