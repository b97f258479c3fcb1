// SPDX-License-Identifier: Apache-2.0
// Blocks for the benches of four over six, a block at once and folded in time: every BF16 number under every block
// scale, every largest magnitude under several tensor scales, then random blocks: any codes, numbers of one size, at
// the bounds of codes of both scales, at ties of scales, tensor scales that make both sums of errors equal or apart by
// their last bits, vanishing, subnormal and saturated scales, NaN, infinities, zeros, tensor scales that are refused;
// at last quotients that are above ties of scales by endless thirds alone.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "../bench.hpp"
#include "narrowgauge/quant/quantize_4over6.hpp"

namespace narrowgauge::bench {

struct FourOverSixBlocks {
  using Block = std::array<std::uint16_t, 16>;

  static constexpr std::uint32_t finite_codes = 0x7F80;  // of BF16 without sign
  static constexpr std::array<float, 14> bounds{0.25F, 0.5F, 0.75F, 1, 1.25F, 1.5F, 1.75F, 2, 2.5F, 3, 3.5F, 4, 5, 6};

  Bench& bench;

  explicit FourOverSixBlocks(Bench& bench) : bench(bench) {}
  virtual ~FourOverSixBlocks() = default;

  /// Gives the unit a block.
  virtual void check(const Block& x, float g) = 0;

  /// All of them, the random ones as many as the bench's budget. Not on a temporary: check() may leave work for later.
  void run() & {
    for (const float g : {1.0F, 0x1.555556p-12F, 0x1p-111F}) elements(g);
    const std::uint64_t step = bench.sweep_step("largest magnitudes x 8 tensor scales", 8 * 0x8000ULL);
    for (const float g :
         {1.0F, 3.0F, 0x1.555556p-3F, 0x1.fffffep-100F, 0x1.fffffep+127F, 0x1p+127F, 0x1.fffffep-112F, 0x1p-111F})
      scales(g, step);
    for (std::uint64_t i = 0; i < bench.budget(); ++i) random(i);
    for (std::uint32_t code = 0; code < 126; ++code) endless_ties(code);
  }

  static float number(std::uint32_t code) { return std::bit_cast<float>(code << 16); }

  /// The largest BF16 number not above x, which is not negative.
  static std::uint32_t below(double x) {
    const float nearest = static_cast<float>(std::min(x, 3.4028234663852886e38));
    const auto code = std::bit_cast<std::uint32_t>(nearest);
    return std::min((double{nearest} > x ? code - 1 : code) >> 16, finite_codes - 1);
  }

  static std::string describe(const Block& x, float g) {
    std::string text = "tensor_scale_i = " + hex(std::bit_cast<std::uint32_t>(g)) + ", a_i =";
    for (const std::uint16_t code : x) text += " " + hex(code);
    return text;
  }

  std::uint16_t sign() { return static_cast<std::uint16_t>(bench.rng().bits(1) << 15); }

  /// Numbers of both signs from zero to the largest, under each scale that a largest number mapped to 6 has.
  void elements(float g) {
    std::array<std::uint32_t, 127> last{};
    for (std::uint32_t amax = 1; amax < finite_codes; ++amax) last[nvfp4_block_scale(number(amax), g)] = amax;
    std::uint64_t points = 0;
    for (const std::uint32_t amax : last) points += amax + 1;
    const std::uint64_t step = bench.sweep_step("scale codes x numbers, both signs", 2 * points / 15);
    std::uint64_t skip = 0;
    for (const std::uint32_t amax : last) {
      for (std::uint32_t first = 0; first <= 2 * amax + 1; first += 15) {
        if (skip++ % step != 0) continue;
        Block x;
        const unsigned lane = static_cast<unsigned>(skip / step % 16);
        for (unsigned i = 0; i < 16; ++i) {
          const std::uint32_t index = std::min(first + i - (i > lane), 2 * amax + 1);
          x[i] = static_cast<std::uint16_t>(index >> 1 | (index & 1) << 15);
        }
        x[lane] = static_cast<std::uint16_t>(amax | sign());
        check(x, g);
      }
    }
  }

  /// Every largest magnitude, infinity and NaNs among them, in changing lanes.
  void scales(float g, std::uint64_t step) {
    for (std::uint32_t amax = static_cast<std::uint32_t>(bench.rng().below(static_cast<std::uint32_t>(step)));
         amax < 0x8000; amax += static_cast<std::uint32_t>(step)) {
      Block x;
      for (std::uint16_t& code : x) {  // the last binades, or any
        const std::uint32_t least = bench.rng().bits(2) ? amax - std::min(amax, 0x300U) : 0;
        code = static_cast<std::uint16_t>((least + bench.rng().below(amax + 1 - least)) | sign());
      }
      x[amax / step % 16] = static_cast<std::uint16_t>(amax | sign());
      check(x, g);
    }
  }

  /// From 2^-114 on, so that some are refused.
  float any_scale() {
    const std::uint32_t exponent = 13 + bench.rng().below(242);
    return std::bit_cast<float>(exponent << 23 | static_cast<std::uint32_t>(bench.rng().bits(23)));
  }

  /// A multiple of a block scale's significand and of the tensor scale, of 3, 5 or 7 times it, is a number of eight
  /// bits or less by a few last bits: where bounds of codes are cut.
  float scale_at_bound() {
    auto& rng = bench.rng();
    const std::uint64_t factor = (3 + 2 * rng.below(3)) * (8 + rng.below(8));
    const std::uint64_t product = factor * ((1U << 23) + static_cast<std::uint32_t>(rng.bits(23))) >> 20 << 20;
    const std::uint64_t significand =
        std::clamp<std::uint64_t>(product / factor + rng.bits(1), 1U << 23, (1U << 24) - 1);
    return std::ldexp(static_cast<float>(significand), static_cast<int>(rng.below(235)) - 134);
  }

  /// Of some size that a block scale has, or beyond: 6 or 4 times it is the largest number, or a midpoint between it
  /// and the next one.
  double any_largest(float g) {
    auto& rng = bench.rng();
    const std::uint32_t code = rng.bits(2) == 0 ? 1 + rng.below(16) : 1 + rng.below(126);
    const double scale = decode(Format::ue4m3, code);
    const double next = decode(Format::ue4m3, std::min<std::uint32_t>(code + 1, 126));
    const double largest = (rng.bits(1) ? 6 : 4) * double{g};
    return rng.bits(1) ? largest * scale : rng.bits(1) ? largest * (scale + next) / 2 : largest * (1 + rng.below(700));
  }

  std::uint16_t near(double x) {
    const std::uint32_t code = below(x) + bench.rng().below(4);
    return static_cast<std::uint16_t>(std::min(code == 0 ? 0 : code - 1, finite_codes - 1));
  }

  /// Numbers at the bounds of both scales, at most `most`.
  Block at_bounds(float g, std::uint32_t most) {
    auto& rng = bench.rng();
    Block x;
    const double six = decode(Format::ue4m3, nvfp4_block_scale(number(most), g)) * double{g};
    const double four =
        decode(Format::ue4m3, quantize_element(desc(Format::ue4m3), number(most), 4 * double{g})) * double{g};
    for (std::uint16_t& code : x) {
      code = near(bounds[rng.below(14)] * (rng.bits(1) ? six : four));
      if (code > most) code = static_cast<std::uint16_t>(rng.below(most + 1));
      code |= sign();
    }
    x[rng.below(16)] = static_cast<std::uint16_t>(most | sign());
    return x;
  }

  /// Magnitudes of one size below `most`.
  Block of_one_size(std::uint32_t most) {
    auto& rng = bench.rng();
    Block x;
    const bool few = rng.bits(2) == 0;
    for (std::uint16_t& code : x) {
      code = static_cast<std::uint16_t>(
          below(number(most) * static_cast<double>(few ? rng.bits(3) << 17 : rng.bits(20)) * 0x1p-20) | sign());
    }
    x[rng.below(16)] = static_cast<std::uint16_t>(most | sign());
    return x;
  }

  /// The block under tensor scales that make the two sums of errors equal, but for the last bits of their products.
  /// With a = -1 where a code is above its number, 1 else, both sums are a |x| - a q s g, so g is a quotient.
  void almost_equal(const Block& x, float g) {
    auto& rng = bench.rng();
    for (int round = 0; round < 3; ++round) {  // other codes under the new scale
      if (g < 0x1p-111F || !std::isfinite(g)) break;
      const Nvfp4Block six = quantize_nvfp4(x, g, false), four = four_over_six_candidate(x, g, 4);
      double v = 0, t = 0;
      for (std::size_t i = 0; i < 16; ++i) {
        const double magnitude = number(x[i] & 0x7FFFU);
        for (const Nvfp4Block* block : {&six, &four}) {
          const double q = decode(Format::e2m1, block->codes[i] & 7) * decode(Format::ue4m3, block->scale);
          const double sign = (block == &four ? 1 : -1) * (q * double{g} > magnitude ? -1 : 1);
          v += sign * magnitude;
          t += sign * q;
        }
      }
      const double equal = v / t;
      if (!(std::abs(equal / g - 1) < 0.25)) break;
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(equal));
      g = std::bit_cast<float>(bits + (round == 2 ? rng.below(3) - 1 : 0));
    }
    check(x, g);
  }

  /// A largest number A whose sixth is above the midpoint of two scales by nothing but its endless thirds: with T the
  /// significand of the midpoint and G that of the tensor scale, 3 T G is A 2^n less 1 or 2. Subnormal scales of less
  /// than three bits have no such number.
  void endless_ties(std::uint32_t code) {
    auto& rng = bench.rng();
    int exponent = 0;
    const double sum = decode(Format::ue4m3, code) + decode(Format::ue4m3, code + 1);
    const auto t = static_cast<std::uint64_t>(std::frexp(sum, &exponent) * 32);
    const std::uint64_t begin = rng.bits(7);
    for (std::uint64_t i = 0, found = 0; i < 128 && found < 4; ++i) {
      const std::uint64_t a = 128 + (begin + i) % 128;
      int n = 23;
      while (a << n >= 3 * t << 24) --n;  // G has 24 bits
      const std::uint64_t rest = (a << n) % 3, product = (a << n) - rest;
      if (rest == 0 || product % (3 * t) != 0) continue;
      ++found;
      const int size = static_cast<int>(rng.below(214)) - 134;
      const float g = std::ldexp(static_cast<float>(product / (3 * t)), size);
      const std::uint32_t most = below(std::ldexp(static_cast<double>(a), n + size + exponent - 5));
      check(rng.bits(1) ? of_one_size(most) : at_bounds(g, most), g);
    }
  }

  void random(std::uint64_t i) {
    auto& rng = bench.rng();
    const std::uint32_t kind = rng.below(3);
    const float g = kind == 0 ? std::ldexp(static_cast<float>(8 + rng.below(8)), static_cast<int>(rng.below(235)) - 114)
                    : kind == 1 ? scale_at_bound()
                                : any_scale();
    switch (i % 8) {
      case 0: {  // any codes, special ones seldom
        Block x;
        for (std::uint16_t& code : x) code = static_cast<std::uint16_t>(rng.below(finite_codes) | sign());
        if (rng.chance(0.1)) x[rng.below(16)] = static_cast<std::uint16_t>(0x7F80 | rng.bits(16));
        return check(x, g);
      }
      case 1:
        return check(of_one_size(below(any_largest(g))), g);
      case 2:
        return check(at_bounds(g, near(any_largest(g))), g);
      case 3: {  // tensor scales beside those of ties of a block scale
        const std::uint32_t most = 1 + rng.below(finite_codes - 1), code = rng.below(126);
        const double tie = (decode(Format::ue4m3, code) + decode(Format::ue4m3, code + 1)) / 2;
        const auto bits = std::bit_cast<std::uint32_t>(
            static_cast<float>(std::min(number(most) / (rng.bits(1) ? 6 : 4) / tie, 3e38)));
        const float at = std::bit_cast<float>(bits - std::min(bits, 2U) + rng.below(5));
        Block x = rng.bits(1) ? of_one_size(most) : at_bounds(at, most);
        if (rng.bits(1)) {  // one is the largest, others come next to it
          for (std::uint16_t& code : x)
            if (rng.bits(1) || (code & 0x7FFFU) == most) code = static_cast<std::uint16_t>((most - 1) | sign());
          x[rng.below(16)] = static_cast<std::uint16_t>(most | sign());
        }
        return check(x, at);
      }
      case 4: {  // zeros, one special number, tensor scales that are refused
        Block x;
        for (std::uint16_t& code : x)
          code = static_cast<std::uint16_t>((rng.chance(0.7) ? 0 : rng.below(finite_codes)) | sign());
        if (rng.bits(1)) x[rng.below(16)] = static_cast<std::uint16_t>(0x7F80 | sign() | (rng.bits(1) << rng.below(7)));
        constexpr std::array<std::uint32_t, 8> refused{0,          0x80000000, 0x7F800000, 0x7F800001,
                                                       0x7FC00000, 0xFF800000, 0x07FFFFFF, 1};
        const std::uint32_t pick = rng.below(16);
        return check(x, pick < 8 ? std::bit_cast<float>(refused[pick]) : pick == 8 ? -g : g);
      }
      case 5:
        return almost_equal(at_bounds(g, near(any_largest(g))), g);
      default:
        return almost_equal(of_one_size(below(any_largest(g))), g);
    }
  }
};

}  // namespace narrowgauge::bench
