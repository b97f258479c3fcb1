// SPDX-License-Identifier: Apache-2.0
// What the tests of upsets have in common: a tile, two products, and the outcomes of chosen flips.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "campaign.hpp"

namespace narrowgauge::upsets {

inline std::size_t find(const std::string& name) {
  const auto at = std::ranges::find(registers(), name, &Register::name);
  EXPECT_NE(at, registers().end()) << name;
  return static_cast<std::size_t>(at - registers().begin());
}

class Upsets : public testing::Test {
 protected:
  /// Outcomes of one bit's flip in so many cycles, one after another from a place in the window on.
  std::array<unsigned, outcomes> flipped(const std::string& name, unsigned word, unsigned bit, double place,
                                         unsigned count) {
    std::array<unsigned, outcomes> seen{};
    const auto length = static_cast<double>(window_.end - window_.begin);
    for (unsigned i = 0; i < count; ++i) {
      const Flip flip{find(name), word, bit, window_.begin + static_cast<std::uint64_t>(place * length) + i};
      ++seen[static_cast<std::size_t>(workload_.run(*tile_, flip, window_).outcome)];
    }
    return seen;
  }

  std::unique_ptr<UpsetTile> tile_ = make_upset_tile();
  Workload workload_{1};
  Workload::Window window_ = workload_.window(*tile_);
};

inline constexpr auto none = static_cast<std::size_t>(Outcome::none), wrong = static_cast<std::size_t>(Outcome::wrong),
                      error = static_cast<std::size_t>(Outcome::error), hang = static_cast<std::size_t>(Outcome::hang);

}  // namespace narrowgauge::upsets
