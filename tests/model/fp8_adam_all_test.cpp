// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/fp8_adam_all.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/quant/delayed_scaling.hpp"

namespace narrowgauge {
namespace {

struct Tensor {
  std::vector<std::uint32_t> gradient, weight;
  std::vector<std::uint8_t> m, v;
};

struct Moved {
  explicit Moved(std::size_t size) : weight(size), m_fp32(size), v_fp32(size), m(size), v(size) {}
  std::vector<std::uint32_t> weight, m_fp32, v_fp32;
  std::vector<std::uint8_t> m, v;
  Fp8AdamNewTensor spans() { return {weight, m, v, m_fp32, v_fp32}; }
};

Fp8AdamTensor spans(const Tensor& t) { return {t.gradient, t.weight, t.m, t.v}; }

/// Any codes, or plain ones: gradients and weights that training has, moments that are positive.
Tensor drawn(std::size_t size, bool plain, std::mt19937& random) {
  constexpr std::array<std::uint32_t, 12> corners{0,          0x80000000, 1,          0x80000001,
                                                  0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF,
                                                  0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345};
  Tensor t;
  const auto code = [&]() -> std::uint32_t {
    if (plain) return std::bit_cast<std::uint32_t>(std::normal_distribution<float>(0, 0.01F)(random));
    return random() % 8 == 0 ? corners[random() % corners.size()] : random();
  };
  for (std::size_t i = 0; i < size; ++i) {
    t.gradient.push_back(code());
    t.weight.push_back(code());
    const std::uint32_t m = random() & 0xFF;
    t.m.push_back(static_cast<std::uint8_t>(plain && (m & 0x7F) == 0x7F ? 0 : m));  // no NaN
    t.v.push_back(static_cast<std::uint8_t>(plain ? random() % 0x7C : random()));
  }
  return t;
}

void same(const Fp8AdamStep& step, const Tensor& t, Moved& made, const Fp8AdamAllOptions& options) {
  const Fp8AdamConstants constants = fp8_adam_constants(step);
  PhiloxStream random(options.seed, options.random_bits == 0 ? 1 : options.random_bits);
  for (std::size_t i = 0; i < t.gradient.size(); ++i) {
    Fp8AdamOptions one{.v_floor = options.floor ? fp8_adam_floor(step) : 0, .random_bits = options.random_bits};
    if (options.random_bits != 0) {
      one.m_random = random.draw();
      one.v_random = random.draw();
    }
    const Fp8AdamElement e =
        fp8_adam(constants, t.gradient[i], {.weight = t.weight[i], .m = t.m[i], .v = t.v[i]}, nullptr, one);
    ASSERT_EQ(made.m_fp32[i], e.m_fp32) << i;
    ASSERT_EQ(made.v_fp32[i], e.v_fp32) << i;
    ASSERT_EQ(made.weight[i], e.weight) << "element " << i << ", gradient " << std::hex << t.gradient[i];
    ASSERT_EQ(made.m[i], e.m) << i;
    ASSERT_EQ(made.v[i], e.v) << i;
  }
}

TEST(Fp8AdamAll, EqualsTheRuleOfAnElement) {
  std::mt19937 random(1);
  for (const bool plain : {true, false}) {
    for (const int bits : {0, 8, 16, 24}) {
      for (const bool floor : {true, false}) {
        const Tensor t = drawn(30'000, plain, random);
        const Fp8AdamStep step{.rate = 1e-3,
                               .beta1 = 0.9,
                               .beta2 = 0.99,
                               .epsilon = plain ? 1e-8 : 0,
                               .weight_decay = 0.1,
                               .step = floor ? 7U : 1U,
                               .m_scale_old = 3.5F,
                               .v_scale_old = 1e4F,
                               .m_scale = 40,
                               .v_scale = 3e5F};
        const Fp8AdamAllOptions options{.floor = floor, .random_bits = bits, .seed = 5, .threads = 2};
        Moved made(t.gradient.size());
        const Fp8AdamScales scales = fp8_adam_all(step, spans(t), made.spans(), options);
        EXPECT_EQ(scales.m, step.m_scale);
        EXPECT_EQ(scales.v, step.v_scale);
        same(step, t, made, options);
      }
    }
  }
}

TEST(Fp8AdamAll, MeasuresScales) {
  std::mt19937 random(2);
  const Tensor t = drawn(5000, true, random);
  Fp8AdamStep step{.step = 3, .m_scale_old = 100, .v_scale_old = 1e6F};
  Moved made(t.gradient.size());
  const Fp8AdamScales scales =
      fp8_adam_all(step, spans(t), made.spans(), {.random_bits = 16, .seed = 9, .measure_scales = true});
  const auto wanted = [](const std::vector<std::uint32_t>& moments, float largest) {
    DelayedScaling scaling({.largest = largest, .history = 1});
    std::uint32_t most = 0;
    for (const std::uint32_t code : moments) most = std::max(most, code & 0x7FFFFFFF);
    scaling.record(std::bit_cast<float>(most));
    return scaling.scale();
  };
  EXPECT_EQ(scales.m, wanted(made.m_fp32, 448));
  EXPECT_EQ(scales.v, wanted(made.v_fp32, 57344));
  step.m_scale = scales.m;
  step.v_scale = scales.v;
  same(step, t, made, {.random_bits = 16, .seed = 9});
  EXPECT_EQ(
      *std::max_element(made.m.begin(), made.m.end(), [](int a, int b) { return (a & 0x7F) < (b & 0x7F); }) & 0x7F,
      0x7E);
}

TEST(Fp8AdamAll, MeasuresNothingOfZeros) {
  Tensor t;
  t.gradient.assign(3, 0);
  t.weight.assign(3, 0x3F800000);
  t.m.assign(3, 0);
  t.v.assign(3, 0);
  Moved made(3);
  const Fp8AdamScales scales = fp8_adam_all({}, spans(t), made.spans(), {.measure_scales = true});
  EXPECT_EQ(scales.m, 1);
  EXPECT_EQ(scales.v, 1);
  EXPECT_EQ(made.weight, t.weight);
}

TEST(Fp8AdamAll, RefusesLengthsThatDiffer) {
  std::mt19937 random(3);
  const Tensor t = drawn(4, true, random);
  Moved made(5);
  EXPECT_THROW(fp8_adam_all({}, spans(t), made.spans()), Error);
}

}  // namespace
}  // namespace narrowgauge
