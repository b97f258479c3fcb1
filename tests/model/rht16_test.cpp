// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/rht16.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/dialect.hpp"

namespace narrowgauge {
namespace {

float value(std::uint16_t code) { return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16); }

/// Finite codes whose exponents spread over 1 to 254 binades.
std::vector<Rht16Block> blocks(std::size_t count) {
  PhiloxStream stream(16, 32);
  std::vector<Rht16Block> result(count);
  for (Rht16Block& block : result) {
    const std::uint32_t spread = 1 + stream.draw() % (stream.draw() % 2 ? 12 : 254);
    const std::uint32_t top = spread - 1 + stream.draw() % (256 - spread);
    for (std::uint16_t& code : block) {
      const std::uint32_t word = stream.draw(), field = top - stream.draw() % spread;
      code = static_cast<std::uint16_t>((word & 0x807F) | (field < 255 ? field : 254) << 7);
    }
  }
  return result;
}

// Where the unit gives an infinity, the stage refuses the matrix.
TEST(Rht16, WithTheFullWindowIsTheFrontStage) {
  std::size_t compared = 0;
  for (const Rht16Block& block : blocks(5000)) {
    std::vector<float> x;
    for (const std::uint16_t code : block) x.push_back(value(code));
    const Rht16Result got = rht16(block);
    EXPECT_TRUE(got.exact);
    if (std::ranges::any_of(got.y, [](std::uint16_t code) { return (code & 0x7FFF) == 0x7F80; })) {
      EXPECT_THROW(static_cast<void>(front_stage(x, 1, 16, FrontStage::rht16, 1)), Error);
      continue;
    }
    ++compared;
    const FrontResult expected = front_stage(x, 1, 16, FrontStage::rht16, 1);
    for (std::size_t c = 0; c < 16; ++c)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(expected.x[c]), static_cast<std::uint32_t>(got.y[c]) << 16) << c;
  }
  EXPECT_GT(compared, 4000U);
}

TEST(Rht16, WindowCutsOffWhatIsBelowIt) {
  std::size_t exact = 0, cut = 0;
  for (const Rht16Block& block : blocks(5000)) {
    for (const int window : {0, 3, 8, 40}) {
      // By divisions: toward zero to a multiple of the unit.
      float largest = 0x1p-126F;
      for (const std::uint16_t code : block) largest = std::max(largest, std::fabs(value(code)));
      const double unit = std::ldexp(1.0, std::ilogb(largest) - 7 - window);
      Rht16Block kept = block;
      for (std::uint16_t& code : kept) {
        const double whole = std::trunc(double{value(code)} / unit) * unit;
        code = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(whole)) >> 16);
      }
      const Rht16Result got = rht16(block, window);
      EXPECT_EQ(got.y, rht16(kept).y);
      bool same = true;
      for (std::size_t r = 0; r < 16; ++r) same = same && value(kept[r]) == value(block[r]);
      EXPECT_EQ(got.exact, same);
      if (got.exact) {
        EXPECT_EQ(got.y, rht16(block).y);
      }
      ++(same ? exact : cut);
    }
  }
  EXPECT_GT(exact, 1000U);
  EXPECT_GT(cut, 1000U);
  EXPECT_THROW(rht16(Rht16Block{}, -1), Error);
  EXPECT_THROW(rht16(Rht16Block{}, 254), Error);
}

TEST(Rht16, SpecialNumbers) {
  Rht16Block nan;
  nan.fill(0x7FC0);
  for (const std::uint16_t special : {0x7F80, 0xFF80, 0x7F81, 0xFFFF}) {
    Rht16Block x{};
    x[3] = special;
    EXPECT_EQ(rht16(x).y, nan);
    EXPECT_FALSE(rht16(x).exact);
  }
  Rht16Block x{}, zero{};
  x.fill(0x8000);
  EXPECT_EQ(rht16(x).y, zero);  // an exact zero is +0
  for (std::size_t r = 0; r < 16; ++r) x[r] = rht16_signs >> r & 1 ? 0xFF7F : 0x7F7F;
  EXPECT_EQ(rht16(x).y[0], 0x7F80);  // a sum beyond BF16 is an infinity
  EXPECT_TRUE(rht16(x).exact);
}

/// What a window costs on ordinary data; docs/units/rht16.md has this table.
TEST(Rht16, SharesOfWhatAWindowChanges) {
  constexpr std::size_t count = 20000;
  struct Share {
    int window;
    std::size_t cut, changed,
        off;  ///< blocks cut off; results that differ; those by more than a unit in the last place
  };
  constexpr Share recorded[] = {
      {0, 19999, 218516, 108899}, {4, 10921, 13128, 1956}, {8, 975, 96, 6}, {12, 74, 0, 0}, {16, 6, 0, 0}};
  std::vector<Rht16Block> data(count);
  PhiloxStream stream(1, 32);
  const auto uniform = [&] { return (stream.draw() + 0.5) * 0x1p-32; };
  for (Rht16Block& block : data)
    for (std::uint16_t& code : block) {
      const double u = uniform(), v = uniform();
      code = static_cast<std::uint16_t>(encode(desc(Format::bf16), standard_normal(u, v), {}));
    }
  std::printf("window  blocks cut off  results that differ  by more than one unit\n");
  for (const Share& share : recorded) {
    Share now{share.window, 0, 0, 0};
    for (const Rht16Block& block : data) {
      const Rht16Result exact = rht16(block), got = rht16(block, share.window);
      now.cut += !got.exact;
      for (std::size_t c = 0; c < 16; ++c) {
        now.changed += got.y[c] != exact.y[c];
        now.off += std::abs(got.y[c] - exact.y[c]) > 1;
      }
    }
    std::printf("%6d  %14.6f  %19.7f  %21.8f   %zu %zu %zu\n", share.window, now.cut / double{count},
                now.changed / double{16 * count}, now.off / double{16 * count}, now.cut, now.changed, now.off);
    EXPECT_EQ(now.cut, share.cut);
    EXPECT_EQ(now.changed, share.changed);
    EXPECT_EQ(now.off, share.off);
  }
}

}  // namespace
}  // namespace narrowgauge
