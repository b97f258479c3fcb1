// SPDX-License-Identifier: Apache-2.0
// Values that the P3109 draft's tables give, and the shape of every table. All values are compared with gfloat in
// verif/oracle/test_p3109.py.
#include "narrowgauge/format/p3109.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(P3109, Binary4p2) {
  const std::vector<double> finite = p3109_values({4, 2, true, false});
  const std::vector<double> want{0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(finite[i], want[i]);
    if (i > 0) {
      EXPECT_EQ(finite[i + 8], -want[i]);
    }
  }
  EXPECT_TRUE(std::isnan(finite[8]));
  const std::vector<double> extended = p3109_values({4, 2, true, true});
  EXPECT_EQ(extended[6], 2);
  EXPECT_EQ(extended[7], infinity);
  EXPECT_EQ(extended[15], -infinity);
}

TEST(P3109, Unsigned) {
  const std::vector<double> values = p3109_values({4, 2, false, true});
  EXPECT_EQ(values[1], 0x1p-4);
  EXPECT_EQ(values[8], 1);
  EXPECT_EQ(values[13], 6);
  EXPECT_EQ(values[14], infinity);
  EXPECT_TRUE(std::isnan(values[15]));
  EXPECT_EQ(p3109_values({4, 2, false, false})[14], 8);
}

TEST(P3109, CodesRiseAndOnlyOneIsNan) {
  for (int bits = 3; bits <= 8; ++bits) {
    for (int kind = 0; kind < 4; ++kind) {
      const bool is_signed = (kind & 1) != 0;
      for (int precision = 1; precision <= (is_signed ? bits - 1 : bits); ++precision) {
        const std::vector<double> values = p3109_values({bits, precision, is_signed, (kind & 2) != 0});
        ASSERT_EQ(values.size(), std::size_t{1} << bits);
        const std::size_t positive = is_signed ? values.size() / 2 : values.size() - 1;  // the NaN follows
        for (std::size_t i = 1; i < positive; ++i) {
          EXPECT_LT(values[i - 1], values[i]);
          if (is_signed) {
            EXPECT_EQ(values[i + positive], -values[i]);
          }
        }
        EXPECT_TRUE(std::isnan(values[positive]));
      }
    }
  }
}

TEST(P3109, Errors) {
  EXPECT_THROW(p3109_values({2, 1, true, true}), Error);
  EXPECT_THROW(p3109_values({9, 3, true, true}), Error);
  EXPECT_THROW(p3109_values({8, 0, true, true}), Error);
  EXPECT_THROW(p3109_values({8, 8, true, true}), Error);
  EXPECT_THROW(p3109_values({8, 9, false, true}), Error);
}

}  // namespace
}  // namespace narrowgauge
