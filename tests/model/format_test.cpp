// SPDX-License-Identifier: Apache-2.0
// The format table, decode, encode and round_pack against plain searches of the value grid and the reference vectors.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/scheme.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

std::vector<Format> all_formats() {
  std::vector<Format> formats;
  for (std::size_t i = 0; i < format_table.size(); ++i) formats.push_back(static_cast<Format>(i));
  return formats;
}

class EveryFormat : public testing::TestWithParam<Format> {
 protected:
  const FormatDesc& f = desc(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat, testing::ValuesIn(all_formats()),
                         [](const auto& info) { return std::string(desc(info.param).name); });

TEST_P(EveryFormat, CodesRoundTrip) {
  const std::uint64_t step = f.bits == 32 ? 9973 : 1;
  std::uint64_t ran = 0;
  for (std::uint64_t i = 0; i < std::uint64_t{1} << f.bits; i += step, ++ran) {
    const auto code = static_cast<std::uint32_t>(i);
    const double value = decode(f, code);
    const std::uint32_t back = encode(f, value, {.overflow = Overflow::ieee});
    if (f.is_nan(code)) {
      ASSERT_TRUE(std::isnan(value)) << code;
      ASSERT_TRUE(f.is_nan(back)) << code;
      ASSERT_EQ(f.is_negative(back), f.is_negative(code)) << code;
    } else {
      const bool lowest = f.complement && code == f.sign_mask();  // without a positive counterpart: saturates
      ASSERT_EQ(back, lowest ? code + 1 : code & (f.sign_mask() | f.payload_mask())) << value;
      ASSERT_EQ(std::signbit(value), f.is_negative(code)) << code;
      ASSERT_EQ(std::isinf(value), f.is_inf(code)) << code;
      ASSERT_EQ(static_cast<float>(value), value) << "not exact in float32: code " << code;
    }
  }
  EXPECT_GE(ran, 16U);
}

TEST_P(EveryFormat, ValuesAscend) {
  for (std::uint32_t code = 0; code < std::min(f.max_code(), 0x10000U); ++code) {
    ASSERT_LT(decode(f, code), decode(f, code + 1)) << code;
  }
}

/// The two magnitude codes around |x| (equal if x is a value), by binary search over decode alone.
std::pair<std::uint32_t, std::uint32_t> neighbours(const FormatDesc& f, double magnitude) {
  std::uint32_t low = 0, high = f.max_code() + 1;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (decode(f, middle) <= magnitude ? low : high) = middle;
  }
  return {low, decode(f, low) == magnitude ? low : high};
}

TEST_P(EveryFormat, RoundingAgreesWithSearch) {
  if (!f.has_zero) GTEST_SKIP() << "no zero: see E8m0";
  std::vector<float> xs = test::boundary_values(f);
  for (const float x : test::wild_values(20000, 11)) xs.push_back(x);
  for (const float x : test::normal_values(20000, 12, static_cast<float>(decode(f, f.max_code() / 2)))) xs.push_back(x);
  std::size_t ran = 0;
  for (const float x : xs) {
    const double magnitude = std::abs(static_cast<double>(x));
    if (magnitude > decode(f, f.max_code()) || (x < 0 && !f.sign)) continue;
    ++ran;
    const auto [low, high] = neighbours(f, magnitude);
    const double below = magnitude - decode(f, low), above = decode(f, high) - magnitude;
    const auto code = [&](std::uint32_t magnitude_code) { return f.with_sign(std::signbit(x), magnitude_code); };
    // Of two neighbours the one with an even mantissa; without mantissa bits the upper power, or 0.
    const std::uint32_t even = f.man_bits == 0 ? (low == 0 ? low : high) : (low % 2 == 0 ? low : high);
    ASSERT_EQ(encode(f, x), code(below < above ? low : above < below ? high : even)) << x;
    ASSERT_EQ(encode(f, x, {.rounding = Rounding::nearest_away}), code(below < above ? low : high)) << x;
    ASSERT_EQ(encode(f, x, {.rounding = Rounding::toward_zero}), code(low)) << x;
    // Stochastic: up for exactly floor(256 delta) of the 256 random words, and those are the largest ones.
    const auto ups = high == low ? 0U : static_cast<std::uint32_t>(std::floor(below / (below + above) * 256));
    if (f.max_code() == low) continue;
    for (const std::uint32_t random : {0U, 255U - ups, 256U - ups, 255U}) {
      if (random > 255) continue;
      const RoundOptions options{.rounding = Rounding::stochastic, .random = random};
      ASSERT_EQ(encode(f, x, options), code(random + ups >= 256 ? high : low)) << x << " R " << random;
    }
  }
  EXPECT_GT(ran, 50U);
}

TEST(Format, LargestValues) {
  const std::map<Format, double> expected{{Format::e2m1, 6},
                                          {Format::e2m3, 7.5},
                                          {Format::e3m2, 28},
                                          {Format::e4m3, 448},
                                          {Format::e4m3_ieee, 240},
                                          {Format::e5m2, 57344},
                                          {Format::e3m4, 15.5},
                                          {Format::e4m3fnuz, 240},
                                          {Format::e5m2fnuz, 57344},
                                          {Format::e4m3b11fnuz, 30},
                                          {Format::int8_mx, 127.0 / 64},
                                          {Format::ue4m3, 448},
                                          {Format::e8m0, 0x1p127},
                                          {Format::e3m0, 64},
                                          {Format::bf16, 0x1.FEp127},
                                          {Format::fp16, 65504},
                                          {Format::tf32, 0x1.FFCp127},
                                          {Format::fp32, 0x1.FFFFFEp127}};
  for (const auto& [format, value] : expected)
    EXPECT_EQ(decode(format, desc(format).max_code()), value) << desc(format).name;
}

TEST(Format, UnknownNameIsNamed) {
  try {
    find_format("e9m9");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'e9m9'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("e2m1, e2m3"), std::string::npos) << e.what();
  }
}

TEST(Scheme, NamesItsElements) {
  EXPECT_EQ(elements_text(Scheme::mxfp6), "e2m3 or e3m2");
  EXPECT_EQ(elements_text(Scheme::int4), "int4");
  EXPECT_EQ(elements_text(Scheme::fp8), "e4m3, e4m3_ieee, e5m2, e3m4, e4m3fnuz, e5m2fnuz or e4m3b11fnuz");
  EXPECT_EQ(find_scheme("mxint8"), Scheme::mxint8);
  EXPECT_EQ(mx_scheme(Format::e3m2), Scheme::mxfp6);
  try {
    find_scheme("mxfp7");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()),
              "unknown scheme 'mxfp7'; expected one of nvfp4, mxfp4, mxfp6, mxfp8, mxint8, fp8, luq, int4");
  }
}

TEST(Format, KindsOfCodesWithoutMinusZero) {
  const FormatDesc &fnuz = desc(Format::e4m3fnuz), &integer = desc(Format::int8_mx);
  EXPECT_EQ(encode(fnuz, -0.0), 0U);
  EXPECT_EQ(encode(fnuz, -1e-9), 0U);
  EXPECT_EQ(encode(fnuz, -1e9), 0xFFU);
  EXPECT_EQ(encode(fnuz, 1e9, {.overflow = Overflow::ieee}), 0x80U);
  EXPECT_EQ(encode(fnuz, -std::numeric_limits<double>::quiet_NaN()), 0x80U);
  EXPECT_EQ(encode(integer, -1.0), 0xC0U);
  EXPECT_EQ(encode(integer, -0.0), 0U);
  EXPECT_EQ(encode(integer, -5.0), 0x81U);
  EXPECT_EQ(decode(integer, 0x80), -2);
  EXPECT_EQ(integer.magnitude(0x80), integer.last_code());
}

TEST(Format, ReferenceE4m3) {  // docs/numerics.md, Reference vectors: default policy, then saturating
  struct Row {
    double x;
    std::uint32_t plain, saturated;
  };
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& [x, plain, saturated] : std::initializer_list<Row>{{448, 0x7E, 0x7E},
                                                                      {464, 0x7E, 0x7E},
                                                                      {464.1F, 0x7F, 0x7E},
                                                                      {inf, 0x7F, 0x7F},
                                                                      {0x1p-10, 0, 0},
                                                                      {0.0009765626F, 1, 1},
                                                                      {0.0029296875, 2, 2},
                                                                      {0.0048828125, 2, 2},
                                                                      {0.0146484375, 8, 8},
                                                                      {1.0625, 0x38, 0x38},
                                                                      {1.1875, 0x3A, 0x3A},
                                                                      {17, 0x58, 0x58},
                                                                      {19, 0x5A, 0x5A}}) {
    EXPECT_EQ(encode(Format::e4m3, x, {.overflow = Overflow::oracle}), plain) << x;
    EXPECT_EQ(encode(Format::e4m3, x, {.overflow = Overflow::oracle_saturate}), saturated) << x;
  }
  EXPECT_EQ(encode(Format::e4m3, inf), 0x7EU) << "PTX satfinite";
}

TEST(Format, ReferenceE5m2) {
  struct Row {
    double x;
    std::uint32_t plain, saturated;
  };
  for (const auto& [x, plain, saturated] : std::initializer_list<Row>{{61439, 0x7B, 0x7B},
                                                                      {61440, 0x7C, 0x7B},
                                                                      {0x1p-17, 0, 0},
                                                                      {7.6294e-6F, 1, 1},
                                                                      {2.2888184e-5F, 2, 2},
                                                                      {1.125, 0x3C, 0x3C},
                                                                      {1.375, 0x3E, 0x3E}}) {
    EXPECT_EQ(encode(Format::e5m2, x, {.overflow = Overflow::oracle}), plain) << x;
    EXPECT_EQ(encode(Format::e5m2, x, {.overflow = Overflow::oracle_saturate}), saturated) << x;
  }
}

TEST(Format, ReferenceE2m1) {
  const std::vector<std::pair<double, std::uint32_t>> rows{{.25, 0}, {.26, 1},  {.75, 2}, {1.25, 2}, {1.75, 4},
                                                           {2.5, 4}, {3.5, 6},  {5, 6},   {5.01, 7}, {7, 7},
                                                           {-.1, 8}, {-5, 0xE}, {-7, 0xF}};
  for (const auto& [x, code] : rows) EXPECT_EQ(encode(Format::e2m1, x), code) << x;
}

TEST(Format, E8m0) {  // docs/numerics.md, Overflow and NaN
  for (const Overflow overflow : {Overflow::oracle, Overflow::oracle_saturate}) {
    const bool saturates = overflow == Overflow::oracle_saturate;
    const auto code = [&](double x) { return encode(Format::e8m0, x, {.overflow = overflow}); };
    EXPECT_EQ(code(1.5), 128U);
    EXPECT_EQ(code(3), 129U);
    EXPECT_EQ(code(6), 130U);
    EXPECT_EQ(code(1.4), 127U);
    EXPECT_EQ(code(0), saturates ? 0U : 0xFFU);
    EXPECT_EQ(code(-2), saturates ? 0U : 0xFFU);
    EXPECT_EQ(code(0x1.8p127), saturates ? 0xFEU : 0xFFU);
    EXPECT_EQ(code(std::numeric_limits<double>::infinity()), 0xFFU);
    EXPECT_EQ(code(std::numeric_limits<double>::quiet_NaN()), 0xFFU);
  }
}

TEST(RoundPack, StickyBitDecidesTies) {
  const FormatDesc& f = desc(Format::e4m3);
  // 1.0625 is the midpoint of 0x38 and 0x39; anything below the significand breaks the tie.
  EXPECT_EQ(round_pack(f, false, -4, 17), 0x38U);
  EXPECT_EQ(round_pack(f, false, -20, (17U << 16) | 1), 0x39U);
  EXPECT_EQ(round_pack(f, true, -20, (19U << 16)), 0xBAU);
  EXPECT_EQ(round_pack(f, false, -20, (19U << 16) - 1), 0x39U);
  EXPECT_EQ(round_pack(f, true, 5, 0), 0x80U);
  EXPECT_EQ(round_pack(f, false, -500, 1), 0U);
  EXPECT_EQ(round_pack(f, false, 500, 1), 0x7EU);
}

}  // namespace
}  // namespace narrowgauge
