// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/operands.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge::power {
namespace {

using Codes = std::vector<std::uint32_t>;

TEST(Operands, IntegersInTheOrderOfTheProduct) {
  MacSpec mac;
  mac.a_width = 4;
  mac.b_width = 8;
  mac.b_signed = false;
  mac.lanes = 2;
  // A 2 x 3, B 3 x 2; the largest magnitudes become 7 and 255.
  const std::vector<float> a{7, -7, 3, 0, 1, -2}, b{255, 0, 51, 102, 1, 2};
  const ProductOperands got = product_operands(mac, a, 2, 3, b, 2);
  EXPECT_EQ(got.stream.cycles, 8U);  // 4 outputs x ceil(3 / 2)
  EXPECT_EQ(got.stream.first_every, 2U);
  EXPECT_EQ(got.outputs, 4U);
  EXPECT_EQ(got.of, 4U);
  EXPECT_EQ(got.a, (Codes{7, 9, 3, 0, 7, 9, 3, 0, 0, 1, 14, 0, 0, 1, 14, 0}));
  EXPECT_EQ(got.b, (Codes{255, 51, 1, 0, 0, 102, 2, 0, 255, 51, 1, 0, 0, 102, 2, 0}));
  EXPECT_EQ(got.stream.a.data(), got.a.data());
}

TEST(Operands, IntegersAsTheyAre) {
  MacSpec mac;
  const std::vector<float> a{-128, 127}, b{1, -1};
  const ProductOperands got = product_operands(mac, a, 1, 2, b, 1, true);
  EXPECT_EQ(got.a, (Codes{0x80, 0x7F}));
  EXPECT_EQ(got.b, (Codes{1, 0xFF}));
  for (const float bad : {128.0F, 0.5F})
    EXPECT_THROW(product_operands(mac, std::vector<float>{0, bad}, 1, 2, b, 1, true), Error);
}

TEST(Operands, SplitSortsWeightsBySign) {
  MacSpec mac;
  mac.a_width = 4;
  mac.b_width = 3;
  mac.a_signed = false;
  mac.schedule = Schedule::sorted;
  const std::vector<float> a{1, 2, 3, 4}, b{-7, 5, 0, -1};
  ProductOperands got = product_operands(mac, a, 1, 4, b, 1, true);
  EXPECT_EQ(got.a, (Codes{2, 3, 1, 4}));
  EXPECT_EQ(got.b, (Codes{5, 0, 9, 15}));  // of four bits: a sign beside three
  mac.schedule = Schedule::muxed;
  got = product_operands(mac, a, 1, 4, b, 1);
  EXPECT_EQ(got.a, (Codes{4, 8, 11, 15}));
  EXPECT_EQ(got.b, (Codes{9, 5, 0, 15}));
  EXPECT_THROW(product_operands(mac, a, 1, 4, std::vector<float>{-8, 0, 0, 0}, 1, true), Error);
}

TEST(Operands, BlocksBringTheirScales) {
  MacSpec mac;
  mac.set_format(MacFormat::nvfp4);
  mac.lanes = 16;
  std::vector<float> a(3 * 40), b(40 * 2);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i));
  const ProductOperands got = product_operands(mac, a, 3, 40, b, 2);
  EXPECT_EQ(got.stream.cycles, 6U * 3);  // 40 elements are 3 blocks
  EXPECT_EQ(got.a.size(), 6U * 48);
  EXPECT_EQ(got.a_scale.size(), 6U * 3);
  EXPECT_EQ(got.b_scale.size(), 6U * 3);
  const Features features = features_counted(mac, got.stream);
  EXPECT_GT(features[static_cast<std::size_t>(Feature::register_flips)], 0);
}

TEST(Operands, ManyOutputsAreThinnedEvenly) {
  const std::vector<float> a(100 * 10, 1.0F), b(10 * 100, 1.0F);
  const ProductOperands got = product_operands(MacSpec(), a, 100, 10, b, 100, false, 1000);
  EXPECT_LE(got.outputs * 10, 1000U);
  EXPECT_GE(got.outputs * 10, 200U);
  EXPECT_EQ(got.of, 10000U);
  EXPECT_EQ(got.stream.cycles, got.outputs * 10);
}

TEST(Operands, BadMatricesNameTheElement) {
  const auto message = [](const MacSpec& mac, const std::vector<float>& a) -> std::string {
    try {
      product_operands(mac, a, 2, 2, std::vector<float>{1, 2, 3, 4}, 2);
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  MacSpec mac;
  EXPECT_NE(message(mac, {1, 2, 3, std::nanf("")}).find("A has nan in row 1, column 1"), std::string::npos);
  mac.a_signed = false;
  EXPECT_NE(message(mac, {1, -2, 3, 4}).find("A has -2.000000 in row 0, column 1"), std::string::npos);
  EXPECT_NE(message(mac, {1, 2, 3}).find("not 2 x 2"), std::string::npos);
  mac.set_format(MacFormat::fp8_e4m3);
  EXPECT_NE(message(mac, {1, 2, std::numeric_limits<float>::infinity(), 4}), "taken");
  mac = {};
  mac.a_width = 1;
  EXPECT_NE(message(mac, {1, 2, 3, 4}).find("1 bit"), std::string::npos);
}

}  // namespace
}  // namespace narrowgauge::power
