// SPDX-License-Identifier: Apache-2.0
// The array encoders and decoders against encode and decode, which are round_pack.
#include "narrowgauge/format/convert.hpp"

#include <gtest/gtest.h>

#include <string>

#include "narrowgauge/error.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

constexpr Overflow overflows[] = {Overflow::saturate, Overflow::ieee, Overflow::oracle, Overflow::oracle_saturate};
constexpr Rounding roundings[] = {Rounding::nearest_even, Rounding::nearest_away, Rounding::stochastic,
                                  Rounding::toward_zero};

/// Every sign, exponent and upper mantissa half, with chosen and random lower bits: NaNs, infinities and subnormals
/// included.
std::vector<float> dense_floats() {
  std::mt19937 generator(21);
  std::vector<float> x;
  for (std::uint32_t top = 0; top < 0x10000; ++top) {
    for (const std::uint32_t low : {0U, 1U, 0x8000U, static_cast<std::uint32_t>(generator() & 0xFFFF)}) {
      x.push_back(std::bit_cast<float>(top << 16 | low));
    }
  }
  return x;
}

template <class Code, class Real>
void expect_same(Format format, const std::vector<Real>& x, const RoundOptions& options,
                 const std::vector<std::uint32_t>& random) {
  std::vector<Code> codes(x.size());
  encode_span(format, x, codes, options, random);
  int errors = 0;
  for (std::size_t i = 0; i < x.size() && errors < 20; ++i) {
    RoundOptions one = options;
    if (!random.empty()) one.random = random[i];
    const std::uint32_t expected = encode(format, x[i], one);
    if (codes[i] == expected) continue;
    ++errors;
    ADD_FAILURE() << desc(format).name << " of " << x[i] << ": got " << +codes[i] << ", expected " << expected
                  << ", rounding " << static_cast<int>(options.rounding) << ", overflow "
                  << static_cast<int>(options.overflow);
  }
}

class EncodeSpan : public testing::TestWithParam<int> {
 protected:
  const Format format = static_cast<Format>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Formats, EncodeSpan, testing::Range(0, static_cast<int>(format_table.size())),
                         [](const auto& info) { return std::string(format_table[info.param].name); });

TEST_P(EncodeSpan, EqualsEncode) {
  std::vector<float> dense = dense_floats();
  const std::vector<float> boundary = test::boundary_values(desc(format));
  dense.insert(dense.end(), boundary.begin(), boundary.end());
  std::mt19937 generator(22);
  for (const Rounding rounding : roundings) {
    for (const Overflow overflow : overflows) {
      for (const int bits : {8, 16, 24}) {
        if (rounding != Rounding::stochastic && bits != 8) continue;
        std::vector<std::uint32_t> random;
        if (rounding == Rounding::stochastic) {
          for (std::size_t i = 0; i < dense.size(); ++i)
            random.push_back(static_cast<std::uint32_t>(generator()) >> (32 - bits));
        }
        const RoundOptions options{.rounding = rounding, .overflow = overflow, .random_bits = bits};
        if (desc(format).bits <= 8) {
          expect_same<std::uint8_t>(format, dense, options, random);
        } else if (desc(format).bits <= 16) {
          expect_same<std::uint16_t>(format, dense, options, random);
        } else {
          expect_same<std::uint32_t>(format, dense, options, random);
        }
      }
    }
  }
}

TEST_P(EncodeSpan, EqualsEncodeOnDoubles) {
  if (desc(format).bits > 8) GTEST_SKIP() << "doubles to wide formats take encode itself";
  std::mt19937_64 generator(23);
  std::vector<double> x;
  for (int i = 0; i < 50000; ++i) {
    const std::uint64_t bits = generator();
    x.push_back(std::bit_cast<double>(bits));
    const std::uint64_t near_one = (bits >> 63 << 63) | (1023 - 20 + bits % 40) << 52 | (bits >> 8 & 0xFFFFFFFFFFFFF);
    x.push_back(std::bit_cast<double>(near_one));
  }
  for (const float v : test::boundary_values(desc(format))) {
    x.push_back(v);
    x.push_back(std::nextafter(static_cast<double>(v), 1e300));
    x.push_back(std::nextafter(static_cast<double>(v), 0));
  }
  for (const Rounding rounding : roundings) {
    std::vector<std::uint32_t> random;
    if (rounding == Rounding::stochastic) {
      for (std::size_t i = 0; i < x.size(); ++i) random.push_back(generator() & 0xFF);
    }
    for (const Overflow overflow : overflows) {
      expect_same<std::uint8_t>(format, x, {.rounding = rounding, .overflow = overflow}, random);
    }
  }
}

TEST_P(EncodeSpan, DecodeSpanEqualsDecode) {
  if (desc(format).bits == 32) GTEST_SKIP() << "float32 itself";
  std::vector<std::uint16_t> codes;
  for (std::uint32_t code = 0; code < 1U << desc(format).bits; ++code)
    codes.push_back(static_cast<std::uint16_t>(code));
  std::vector<float> x(codes.size());
  decode_span(format, codes, x);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const double expected = decode(format, codes[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(x[i])) << i;
    } else {
      ASSERT_EQ(x[i], expected) << i;
    }
  }
  if (desc(format).bits > 8) return;
  std::vector<std::uint8_t> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::uint8_t>(i);
  std::vector<double> y(many.size());
  decode_span(format, many, y);
  for (std::size_t i = 0; i < many.size(); ++i) {
    const double expected = decode(format, many[i]);
    ASSERT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected))) << i;
  }
}

TEST(EncodeSpanErrors, AreSentences) {
  const std::vector<float> x(3);
  std::vector<std::uint8_t> short_codes(2), codes(3);
  EXPECT_THROW(encode_span(Format::e4m3, x, short_codes), Error);
  try {
    encode_span(Format::bf16, x, codes);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "codes of bf16 have 16 bits and do not fit the 8-bit code type: use a wider one");
  }
}

}  // namespace
}  // namespace narrowgauge
