// SPDX-License-Identifier: Apache-2.0
// Upsets in a tile whose banks and queues have parity: none that falls into them is silently wrong.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "upsets_fixture.hpp"

namespace narrowgauge::upsets {
namespace {

/// What stands in a bank or a queue, or at its output.
bool is_protected(const Register& item) {
  const bool buffer = item.block.starts_with("u_a ") || item.block.starts_with("u_b ");
  const bool queue = item.block.ends_with("s memory");
  const bool output =
      (item.block == "u_a" || item.block == "u_b" || item.block == "u_computes" || item.block == "u_jobs") &&
      item.name.ends_with("rdata_o");
  const bool word = item.block == "u_words" && item.bits.size() > 8;
  return buffer || queue || output || word;
}

TEST_F(Upsets, NoFlipInABankOrAQueueIsSilentlyWrong) {
  std::set<std::string> reported;  // the blocks of which a flip was an error
  std::uint64_t flips = 0;
  for (std::size_t which = 0; which < registers().size(); ++which) {
    const Register& item = registers()[which];
    if (!is_protected(item)) continue;
    // Each bit of a register and a bit of each word of a memory, at places that differ.
    const std::uint64_t count = item.words > 1 ? item.words : item.bits.size();
    for (std::uint64_t i = 0; i < count; ++i) {
      const unsigned word = item.words > 1 ? static_cast<unsigned>(i) : 0;
      const unsigned bit = item.bits[(7 * i + 3) % item.bits.size()];
      for (const std::uint64_t part : {(23 * i + 5) % 64, (41 * i + 37) % 64}) {
        const Flip flip{which, word, bit, window_.begin + part * (window_.end - window_.begin) / 64};
        const upsets::Run run = workload_.run(*tile_, flip, window_);
        ++flips;
        EXPECT_NE(run.outcome, Outcome::wrong)
            << item.name << ", word " << word << ", bit " << bit << ", cycle " << flip.cycle;
        if (run.error.starts_with("a bit has flipped")) reported.insert(item.block);
        EXPECT_TRUE(run.recovered) << item.name;
      }
    }
  }
  EXPECT_GT(flips, 1000U);
  EXPECT_EQ(reported,
            (std::set<std::string>{"u_a", "u_a memory", "u_b", "u_b memory", "u_computes", "u_computes memory",
                                   "u_jobs", "u_jobs memory", "u_loads memory", "u_words"}));
}

TEST_F(Upsets, WhatHasNoParityIsStillSilentlyWrong) {
  const auto seen = flipped("u_array.gen_cells[0].gen_pe[0].gen_exact.u_pe.u_acc.acc_o", 0, 30, 0.6, 14);
  EXPECT_GE(seen[wrong], 12U);
}

TEST_F(Upsets, AWordThatNoProductUsesHasNoEffect) {
  EXPECT_EQ(flipped("u_a.gen_word[0].u_ram.mem", 60, 7, 0.3, 5)[none], 5U);
}

}  // namespace
}  // namespace narrowgauge::upsets
