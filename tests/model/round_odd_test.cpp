// SPDX-License-Identifier: Apache-2.0
// What rounding to odd is for: FP32 quantized through BF16 in one rounding (docs/units/fp32_to_bf16_odd.md).
#include "narrowgauge/format/round_odd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/quantize_fp8.hpp"
#include "narrowgauge/quant/quantize_mx.hpp"
#include "narrowgauge/quant/quantize_nvfp4.hpp"

namespace narrowgauge {
namespace {

float number(std::uint32_t code) { return std::bit_cast<float>(code); }

/// FP32 around numbers of few bits, ties of all formats among them, and any.
class Fp32 {
 public:
  explicit Fp32(std::uint32_t seed) : random_(seed) {}

  /// With an exponent field up to `spread` below `top`.
  std::uint32_t code(std::uint32_t top, std::uint32_t spread) {
    const auto field =
        static_cast<std::uint32_t>(std::max(0, static_cast<int>(top) - static_cast<int>(random_() % (spread + 1))));
    std::uint32_t mantissa = random_() & 0x7FFFFF;
    if (random_() % 4 != 0) {  // seven bits or fewer, or next to them
      mantissa &= 0x7FFFFFU << (17 + random_() % 7) & 0x7FFFFF;
      const std::uint32_t next = random_() % 4;
      if (next == 1) mantissa |= 1U << random_() % 17;
      if (next == 2 && mantissa != 0) --mantissa;
    }
    return (random_() & 1) << 31 | field << 23 | mantissa;
  }
  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

 private:
  std::mt19937 random_;
};

Nvfp4Block nvfp4(const std::array<std::uint32_t, 16>& x, float tensor_scale) {
  float amax = 0;
  for (const std::uint32_t code : x) amax = std::max(amax, std::abs(number(code)));
  Nvfp4Block block;
  block.scale = nvfp4_block_scale(amax, tensor_scale);
  if (block.scale == 0) return block;
  const double unit = decode(Format::ue4m3, block.scale) * tensor_scale;
  for (std::size_t i = 0; i < 16; ++i)
    block.codes[i] = static_cast<std::uint8_t>(quantize_element(desc(Format::e2m1), number(x[i]), unit));
  return block;
}

TEST(RoundOdd, KeepsWhatBf16Has) {
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    EXPECT_EQ(fp32_to_bf16_odd(upper << 16), upper);
    EXPECT_EQ(fp32_to_bf16_odd(upper << 16 | 1), upper | 1);
  }
}

TEST(RoundOdd, Nvfp4UnderPowersOfTwo) {
  Fp32 fp32(1);
  int twice = 0;
  for (int n = 0; n < 200'000; ++n) {
    const auto exponent = static_cast<int>(fp32.below(220)) - 111;
    const float scale = std::ldexp(1.0F, exponent);
    const auto top =
        static_cast<std::uint32_t>(std::clamp(127 + exponent + 11 - static_cast<int>(fp32.below(24)), 0, 254));
    std::array<std::uint32_t, 16> x{};
    std::array<std::uint16_t, 16> odd{}, nearest{};
    for (std::size_t i = 0; i < 16; ++i) {
      x[i] = fp32.code(top, 6);
      odd[i] = fp32_to_bf16_odd(x[i]);
      nearest[i] =
          static_cast<std::uint16_t>(encode(desc(Format::bf16), number(x[i]), {.overflow = Overflow::saturate}));
    }
    const Nvfp4Block expected = nvfp4(x, scale);
    ASSERT_EQ(quantize_nvfp4(odd, scale), expected) << "tensor scale 2^" << exponent;
    twice += quantize_nvfp4(nearest, scale) != expected;
  }
  EXPECT_GT(twice, 1000);  // that rounding to nearest first is no substitute
}

/// The block scale of an FP32 amax: OCP's floor rule, or fl(amax fl(1/V)) rounded up to a power of two.
std::uint8_t mx_scale(const FormatDesc& f, float amax, bool rceil) {
  if (!rceil) return mx_block_scale(f, amax);
  const float quotient = amax * (1.0F / static_cast<float>(decode(f, f.max_code())));
  int exponent = 0;  // quotient is significand times 2^exponent, the significand from 0.5 on and below 1
  const float significand = std::frexp(quotient, &exponent);
  return static_cast<std::uint8_t>(std::max(0, exponent - (significand == 0.5F ? 1 : 0) + 127));
}

TEST(RoundOdd, MxByFloorAndCeil) {
  Fp32 fp32(2);
  const std::array<std::uint8_t, 32> unused{};
  const std::pair<Format, int> formats[] = {{Format::e2m1, -127}, {Format::e4m3, -122}, {Format::e5m2, -115}};
  for (const bool rceil : {false, true}) {
    for (const auto& [format, least] : formats) {
      const FormatDesc& f = desc(format);
      int compared = 0;
      for (int n = 0; n < 60'000; ++n) {
        const std::uint32_t top = fp32.below(255);
        std::array<std::uint32_t, 32> x{};
        std::array<std::uint16_t, 32> odd{};
        float amax = 0;
        for (std::size_t i = 0; i < 32; ++i) {
          x[i] = fp32.code(top, 20);
          odd[i] = fp32_to_bf16_odd(x[i]);
          amax = std::max(amax, std::abs(number(x[i])));
        }
        const std::uint8_t scale = mx_scale(f, amax, rceil);
        if (scale < 127 + least) continue;
        ++compared;
        const MxBlock block = quantize_mx(odd, format, rceil, false, unused);
        ASSERT_EQ(block.scale, scale) << amax << (rceil ? " rounded up" : "");
        for (std::size_t i = 0; i < 32; ++i)
          ASSERT_EQ(block.codes[i], encode(f, number(x[i]) / decode(Format::e8m0, scale))) << std::hex << x[i];
      }
      EXPECT_GT(compared, 20'000);
    }
  }
}

/// Whether a product in FP32 is above a power of two is seen behind rounding to odd: all significands of a binade.
TEST(RoundOdd, MxScalesOfAllSignificands) {
  for (const Format format : {Format::e2m1, Format::e4m3, Format::e5m2}) {
    const FormatDesc& f = desc(format);
    for (std::uint32_t code = 0x3F80'0000; code < 0x4000'0000; ++code) {
      const float odd = number(std::uint32_t{fp32_to_bf16_odd(code)} << 16);
      ASSERT_EQ(mx_scale(f, odd, true), mx_scale(f, number(code), true)) << std::hex << code;
    }
  }
}

TEST(RoundOdd, Fp8UnderPowersOfTwo) {
  Fp32 fp32(3);
  const std::pair<Format, std::uint32_t> formats[] = {{Format::e4m3, 5},
                                                      {Format::e5m2, 12}};  // codes of 2^-122, 2^-115
  for (const auto& [format, least] : formats) {
    for (int n = 0; n < 1'000'000; ++n) {
      const auto scale = static_cast<std::uint8_t>(least + fp32.below(255 - least));
      const std::uint32_t x = fp32.code(std::min(254U, scale + 16U), 40);
      ASSERT_EQ(quantize_fp8(fp32_to_bf16_odd(x), scale, format, false, 0),
                encode(format, number(x) / decode(Format::e8m0, scale)))
          << std::hex << x << " scale " << unsigned{scale};
    }
  }
}

}  // namespace
}  // namespace narrowgauge
