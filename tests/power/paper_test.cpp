// SPDX-License-Identifier: Apache-2.0
// Every number of the tables that follow from the formulas (docs/pann.md, Formulas), to the digits printed.
#include "features/paper.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "narrowgauge/pann/pann.hpp"

namespace narrowgauge::power::paper {
namespace {

// The formulas themselves, at compile time.
static_assert(signed_mac(4, 4, 32).total() == 36 && unsigned_mac(4, 4).total() == 24);
static_assert(signed_mac(2, 2, 32).total() == 24 && unsigned_mac(2, 2).total() == 10);
static_assert(pann_flips(6, 0.5) == 6 && pann_flips(4, pann::budget_additions(10, 4)) == 10);

TEST(Paper, PartsOfAMac) {
  for (int b = 2; b <= 8; ++b) {
    const MacFlips is = signed_mac(b, b, 32);
    EXPECT_DOUBLE_EQ(is.multiplier_inputs, b);
    EXPECT_DOUBLE_EQ(is.multiplier_internal, 0.5 * b * b);
    EXPECT_DOUBLE_EQ(is.accumulator_input, 16);
    EXPECT_DOUBLE_EQ(is.accumulator_sum, b);
    EXPECT_DOUBLE_EQ(is.accumulator_register, b);
    EXPECT_DOUBLE_EQ(is.multiplier(), 0.5 * b * b + b);
    EXPECT_DOUBLE_EQ(is.accumulator(), 16 + 2 * b);
    EXPECT_DOUBLE_EQ(is.total(), 0.5 * b * b + 3 * b + 16);
    const MacFlips un = unsigned_mac(b, b);
    EXPECT_DOUBLE_EQ(un.multiplier(), is.multiplier());
    EXPECT_DOUBLE_EQ(un.accumulator(), 3 * b);
    EXPECT_DOUBLE_EQ(un.total(), 0.5 * b * b + 4 * b);
  }
}

TEST(Paper, HeadlineTable) {
  struct Row {
    int bits;
    double is_signed, share, is_unsigned, saving;  // percent
  };
  for (const Row& row :
       {Row{2, 24.0, 66.7, 10.0, 58.3}, Row{3, 29.5, 54.2, 16.5, 44.1}, Row{4, 36.0, 44.4, 24.0, 33.3},
        Row{5, 43.5, 36.8, 32.5, 25.3}, Row{6, 52.0, 30.8, 42.0, 19.2}, Row{8, 72.0, 22.2, 64.0, 11.1}}) {
    const MacFlips flips = signed_mac(row.bits, row.bits, 32);
    EXPECT_DOUBLE_EQ(flips.total(), row.is_signed) << row.bits;
    EXPECT_DOUBLE_EQ(unsigned_mac(row.bits, row.bits).total(), row.is_unsigned) << row.bits;
    EXPECT_NEAR(100 * flips.accumulator_input_share(), row.share, 0.05) << row.bits;
    EXPECT_NEAR(100 * unsigned_saving(row.bits, 32), row.saving, 0.05) << row.bits;
  }
  struct Narrow {
    int bits, accumulator;
    double is_signed, saving;
  };
  for (const Narrow& row : {Narrow{2, 17, 16.5, 39.4}, Narrow{4, 21, 30.5, 21.3}, Narrow{8, 29, 70.5, 9.2}}) {
    EXPECT_DOUBLE_EQ(signed_mac(row.bits, row.bits, row.accumulator).total(), row.is_signed);
    EXPECT_NEAR(100 * unsigned_saving(row.bits, row.accumulator), row.saving, 0.05);
  }
}

TEST(Paper, MixedWidthsFollowTheWider) {
  EXPECT_DOUBLE_EQ(multiplier_flips(2, 8), 32 + 5);
  EXPECT_DOUBLE_EQ(multiplier_flips(8, 2), 32 + 5);
  for (int narrow = 1; narrow <= 8; ++narrow) {
    EXPECT_DOUBLE_EQ(signed_mac(narrow, 8, 32).multiplier_internal, 32) << narrow;
    EXPECT_DOUBLE_EQ(signed_mac(narrow, 8, 32).total(), multiplier_flips(narrow, 8) + 16 + narrow + 8) << narrow;
  }
}

TEST(Paper, AdditionsOfABudget) {
  struct Row {
    int bits;
    double power, additions[6];  // activations of 3 to 8 bits
  };
  for (const Row& row :
       {Row{2, 10, {2.833, 2.0, 1.5, 1.167, 0.929, 0.75}}, Row{3, 16.5, {5.0, 3.625, 2.8, 2.25, 1.857, 1.562}},
        Row{4, 24, {7.5, 5.5, 4.3, 3.5, 2.929, 2.5}}, Row{5, 32.5, {10.33, 7.625, 6.0, 4.917, 4.143, 3.562}},
        Row{6, 42, {13.5, 10.0, 7.9, 6.5, 5.5, 4.75}}, Row{8, 64, {20.83, 15.5, 12.3, 10.17, 8.643, 7.5}}}) {
    EXPECT_DOUBLE_EQ(unsigned_mac(row.bits, row.bits).total(), row.power);
    EXPECT_EQ(pann::unsigned_budget(row.bits), row.power);
    for (int bx = 3; bx <= 8; ++bx) {
      const double additions = pann::budget_additions(row.power, bx);
      EXPECT_NEAR(additions, row.additions[bx - 3], additions >= 10 ? 0.005 : 0.00051) << row.bits << ' ' << bx;
      EXPECT_NEAR(pann_flips(bx, additions), row.power, 1e-12);
    }
  }
}

TEST(Paper, NetworksInGigaFlips) {
  const int bits[] = {2, 3, 4, 5, 6, 8};
  const double giga[4][6] = {{40.9, 67.5, 98.1, 132.9, 171.7, 261.7},
                             {18.1, 29.9, 43.5, 59.0, 76.2, 116},
                             {3.0, 5.0, 7.2, 9.8, 12.6, 19.3},
                             {155, 255, 371, 503, 650, 990}};
  for (std::size_t n = 0; n < networks.size(); ++n) {
    for (int i = 0; i < 6; ++i) {
      const double digits = giga[n][i] == std::round(giga[n][i]) && giga[n][i] > 100 ? 0.5 : 0.051;
      EXPECT_NEAR(networks[n].macs * unsigned_mac(bits[i], bits[i]).total() * 1e-9, giga[n][i], digits)
          << networks[n].name << ' ' << bits[i];
    }
  }
}

}  // namespace
}  // namespace narrowgauge::power::paper
