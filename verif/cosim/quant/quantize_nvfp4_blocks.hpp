// SPDX-License-Identifier: Apache-2.0
// Stimulus and comparisons for quantizers of NVFP4 blocks: every BF16 number under every block scale that lets it be,
// every largest magnitude under several tensor scales, then random blocks: any codes, numbers of one size, at
// thresholds, at ties of codes and of scales and next to them, the largest number beside others that differ by one bit,
// scales at powers of two, tiny and huge tensor scales, NaN, infinities, zeros, tensor scales that are refused.
// Units with random bits get all of it stochastically, too, under powers of two, and expectation and variance over all
// random words in every interval under every block scale. Build parameters: NG_TINY_SCALES, NG_RAND_BITS.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "narrowgauge/quant/quantize_nvfp4.hpp"

namespace narrowgauge::bench::nvfp4 {

using Block = std::array<std::uint16_t, 16>;

constexpr std::uint32_t finite_codes = 0x7F80;  // of BF16 without sign
constexpr std::array<float, 7> midpoints{0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5};

inline float number(std::uint32_t code) { return std::bit_cast<float>(code << 16); }

/// The largest BF16 number not above x, which is not negative.
inline std::uint16_t below(double x) {
  const float nearest = static_cast<float>(std::min(x, 3.4028234663852886e38));
  const auto code = std::bit_cast<std::uint32_t>(nearest);
  const std::uint32_t cut = std::min((double{nearest} > x ? code - 1 : code) >> 16, finite_codes - 1);
  return static_cast<std::uint16_t>(cut);
}

#ifdef NG_RAND_BITS  // ng_quantize_nvfp4_sr
#define NG_TINY_SCALES 0
#else
#define NG_RAND_BITS 0
#endif
constexpr unsigned random_bits = NG_RAND_BITS;
constexpr std::uint32_t words = std::uint32_t{1} << random_bits;

/// `Ports` are those of a unit that takes whole blocks: a Verilated one, or what stands before one that takes beats.
template <class Ports>
struct Tester {
  Bench& bench;
  Dut<Ports>& dut;
  CutPipe<Ports> pipe{bench, dut};

  /// To nearest, and with random bits now and then stochastically, mostly under the power of two in g.
  void check(const Block& x, float g) {
    if constexpr (random_bits != 0) {
      if (bench.rng().bits(1)) {
        Nvfp4Random random{.bits = random_bits};
        // Often the ends: what must never go up, what goes up first.
        for (std::uint32_t& r : random.words) {
          r = bench.rng().below(words);
          if (bench.rng().bits(2) == 0) r = bench.rng().bits(1) ? words - 1 : 0;
        }
        const bool power = bench.rng().bits(3) != 0 && std::isfinite(g) && g > 0;
        if (power) g = std::ldexp(1.0F, std::ilogb(g));
        if (power && bench.rng().bits(1)) at_words(x, g, random);
        return check(x, g, random, [](std::uint64_t) {});
      }
    }
    check(x, g, std::nullopt, [](std::uint64_t) {});
  }

  /// Applies the inputs and compares; `after` gets the codes.
  template <class After>
  void check(const Block& x, float g, const std::optional<Nvfp4Random>& random, After after) {
    for (unsigned i = 0; i < 16; ++i) set_bits(dut->a_i, 16 * i, 16, x[i]);
    dut->tensor_scale_i = std::bit_cast<std::uint32_t>(g);
    if constexpr (random_bits != 0) {
      dut->stochastic_i = random.has_value();
      for (unsigned i = 0; i < 16; ++i)
        set_bits(dut->rand_i, random_bits * i, random_bits, random ? random->words[i] : bench.rng().below(words));
    }
    const Nvfp4Block expected = quantize_nvfp4(x, g, NG_TINY_SCALES, random ? &*random : nullptr);
    std::uint64_t codes = 0;
    for (unsigned i = 0; i < 16; ++i) codes |= std::uint64_t{expected.codes[i]} << 4 * i;
    pipe([this, x, g, random, codes, scale = expected.scale, after] {
      const auto inputs = [&] {
        std::string text = "tensor_scale_i = " + hex(std::bit_cast<std::uint32_t>(g)) + ", a_i =";
        for (const std::uint16_t code : x) text += " " + hex(code);
        if (random) text += ", rand_i =";
        for (unsigned i = 0; i < 16 && random; ++i) text += " " + hex(random->words[i]);
        return text;
      };
      bench.expect_eq("scale_o", static_cast<std::uint32_t>(dut->scale_o), std::uint32_t{scale}, inputs);
      bench.expect_eq("codes_o", static_cast<std::uint64_t>(dut->codes_o), codes, inputs);
      after(static_cast<std::uint64_t>(dut->codes_o));
    });
  }

  /// The least random word with which an element goes up, or the one before.
  void at_words(const Block& x, float g, Nvfp4Random& random) {
    std::uint32_t amax = 0;
    for (const std::uint16_t code : x) amax = std::max(amax, code & 0x7FFFU);
    if (amax >= finite_codes) return;
    const double unit = decode(Format::ue4m3, nvfp4_block_scale(number(amax), g)) * double{g};
    for (std::size_t i = 0; i < x.size() && unit > 0; ++i) {
      const double magnitude = number(x[i] & 0x7FFFU);
      std::uint32_t code = 0;
      while (code < 7 && decode(Format::e2m1, code + 1) * unit <= magnitude) ++code;
      if (code == 7) continue;
      const double low = decode(Format::e2m1, code) * unit, step = decode(Format::e2m1, code + 1) * unit - low;
      const auto up = static_cast<std::uint32_t>((magnitude - low) / step * words);
      random.words[i] = std::min(words - std::min(words, up) - std::min(words - up, bench.rng().below(2)), words - 1);
    }
  }

  /// Expectation and variance over all random words of one number in a block of a largest magnitude, fifteen words a
  /// block, from the unit's codes.
  void moments(std::uint16_t x, std::uint32_t amax, float g) {
    const FormatDesc& f = desc(Format::e2m1);
    const double unit = decode(Format::ue4m3, nvfp4_block_scale(number(amax), g)) * double{g};
    const double y = std::fabs(number(x)) / unit;  // of four bits of significand in unit: compared by products below
    std::uint32_t code = 0;
    while (code < 7 && decode(f, code + 1) * unit <= std::fabs(number(x))) ++code;
    const double low = decode(f, code), step = code < 7 ? decode(f, code + 1) - low : 0;
    double up = 0;  // of all words: the largest number with (|x| - l unit) 2^r >= up step unit
    while (step > 0 && (std::fabs(number(x)) - low * unit) * words >= (up + 1) * step * unit) ++up;
    const unsigned lane = bench.rng().below(16);
    auto values = std::make_shared<std::vector<double>>(words);  // of the codes, by word; with cuts they are seen twice
    for (std::uint32_t first = 0; first < words; first += 15) {
      Block block;
      Nvfp4Random random{.bits = random_bits};
      for (unsigned i = 0; i < 16; ++i) {
        block[i] = i == lane ? static_cast<std::uint16_t>(amax) : x;
        random.words[i] = (first + i - (i > lane)) % words;
      }
      check(block, g, random, [=, this](std::uint64_t codes) {
        for (unsigned i = 0; i < 16; ++i) {
          const std::uint32_t word = first + i - (i > lane);
          if (i != lane && word < words) (*values)[word] = std::fabs(decode(f, codes >> 4 * i & 15));
        }
        if (first + 15 < words) return;
        double sum = 0, squares = 0;
        for (const double value : *values) {
          sum += value;
          squares += (value - low) * (value - low);
        }
        const auto inputs = [&] {
          return "tensor_scale_i = " + hex(std::bit_cast<std::uint32_t>(g)) + ", largest " + hex(amax) +
                 ", a_i = " + hex(x) + ", all random words";
        };
        // The mean of all words is l + floor(delta 2^r) / 2^r step, and the mean square from l that share of step^2.
        bench.expect_eq("expectation", sum, words * low + up * step, inputs);
        bench.expect_eq("mean square", squares, up * step * step, inputs);
        if (step > 0 && (std::fabs(number(x)) - low * unit) * words == up * step * unit) {
          const double mean = sum / words, variance = squares / words - (mean - low) * (mean - low);
          bench.expect_eq("unbiased expectation", mean, y, inputs);
          bench.expect_eq("variance", variance, (y - low) * (low + step - y), inputs);
        }
      });
    }
  }

  /// Numbers of all intervals under every block scale.
  void intervals(float g) {
    const std::array<std::uint32_t, 127> last = largest_of(g);
    std::uint64_t points = 0;
    for (const std::uint32_t amax : last) points += std::min(amax, 14U << 7);
    const std::uint64_t step =
        bench.sweep_step("scale codes x numbers x all random words", points * ((words + 14) / 15));
    std::uint64_t skip = 0;
    for (std::uint32_t code = 1; code < 127; ++code) {
      const std::uint32_t amax = last[code];
      for (std::uint32_t x = amax - std::min(amax, 14U << 7); x < amax; ++x)
        if (skip++ % step == 0) moments(static_cast<std::uint16_t>(x | sign()), amax, g);
    }
  }

  std::uint16_t sign() { return static_cast<std::uint16_t>(bench.rng().bits(1) << 15); }

  /// The largest magnitude's code that has each scale code, or 0 where none has.
  static std::array<std::uint32_t, 127> largest_of(float g) {
    std::array<std::uint32_t, 127> last{};
    for (std::uint32_t amax = 1; amax < finite_codes; ++amax) last[nvfp4_block_scale(number(amax), g)] = amax;
    return last;
  }

  /// Numbers of both signs from zero to the largest, fifteen a block, under each scale.
  void elements(float g) {
    const std::array<std::uint32_t, 127> last = largest_of(g);
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
      for (std::uint16_t& code : x) code = static_cast<std::uint16_t>(bench.rng().below(amax + 1) | sign());
      x[amax / step % 16] = static_cast<std::uint16_t>(amax | sign());
      check(x, g);
    }
  }

  float any_scale() {
    const auto exponent = static_cast<std::uint32_t>(bench.rng().below(255));
    return std::bit_cast<float>(
        std::max<std::uint32_t>(1, exponent << 23 | static_cast<std::uint32_t>(bench.rng().bits(23))));
  }

  /// A block whose largest number is about 6 scale g, the others at most that large.
  void at_thresholds(float g) {
    auto& rng = bench.rng();
    const double scale = decode(Format::ue4m3, 1 + rng.below(126));
    const auto near = [&](double x) {
      const std::uint32_t code = below(x) + rng.below(4);
      return static_cast<std::uint16_t>(std::min(code == 0 ? 0 : code - 1, finite_codes - 1) | sign());
    };
    Block x;
    // The midpoints beside this scale, or any factor of it.
    const double next = decode(Format::ue4m3, std::min<std::uint32_t>(encode(Format::ue4m3, scale) + 1, 126));
    const std::uint16_t amax = rng.bits(1) ? near(3 * (scale + next) * g) : near(6 * scale * g);
    const double unit = decode(Format::ue4m3, nvfp4_block_scale(number(amax & 0x7FFF), g)) * double{g};
    for (std::uint16_t& code : x) {
      code = near(midpoints[rng.below(7)] * unit);
      if ((code & 0x7FFF) > (amax & 0x7FFF))
        code = static_cast<std::uint16_t>(rng.below((amax & 0x7FFFU) + 1) | sign());
    }
    x[rng.below(16)] = amax;
    check(x, g);
  }

  /// Zeros and subnormal numbers under the least scales that are not refused, where they are nearest to the unit.
  void least_scales() {
    auto& rng = bench.rng();
    const float g = std::ldexp(1.0F, -111 + static_cast<int>(rng.below(4)));
    Block x;
    for (std::uint16_t& code : x) code = static_cast<std::uint16_t>((rng.bits(1) ? 0 : rng.below(0x180)) | sign());
    x[rng.below(16)] =
        static_cast<std::uint16_t>(below(6 * decode(Format::ue4m3, 1 + rng.below(24)) * double{g}) | sign());
    check(x, g);
  }

  /// Tensor scales under which an element or the largest number is at a threshold but for the last bits of the product.
  void almost_ties() {
    auto& rng = bench.rng();
    const std::uint32_t scale_code = 1 + rng.below(125);
    const double scale = decode(Format::ue4m3, scale_code), next = decode(Format::ue4m3, scale_code + 1);
    const std::uint32_t code =
        (rng.bits(2) == 0 ? 1U + rng.below(40) : 16U + rng.below(220)) << 7 | static_cast<std::uint32_t>(rng.bits(7));
    const bool element = rng.bits(1);
    const double midpoint = midpoints[rng.below(7)];
    const double wanted = number(code) / (element ? midpoint * scale : 3 * (scale + next));
    const unsigned zeros = rng.bits(1) ? 0 : rng.below(23);  // in the tensor scale's last places
    const std::uint32_t nearest = std::bit_cast<std::uint32_t>(static_cast<float>(wanted)) >> zeros;
    const std::uint32_t bits = (nearest + rng.below(5) - std::min(nearest, 2U)) << zeros;
    const float g = std::bit_cast<float>(std::clamp<std::uint32_t>(bits, 1, 0x7F7FFFFF));
    const std::uint32_t most = element ? std::max<std::uint32_t>(code, below(6 * scale * g)) : code;
    const double unit = decode(Format::ue4m3, nvfp4_block_scale(number(most), g)) * double{g};
    Block x;
    for (std::uint16_t& other : x)
      other = static_cast<std::uint16_t>(std::min<std::uint32_t>(most, below(midpoints[rng.below(7)] * unit)) | sign());
    x[rng.below(8)] = static_cast<std::uint16_t>(code | sign());
    x[8 + rng.below(8)] = static_cast<std::uint16_t>(most | sign());
    check(x, g);
  }

  /// A largest number that is off the midpoint of two scales by one bit of the product that decides: 3 T s is A 2^22
  /// and that bit, or less by it, with T = 17 to 31, odd, s the significand of the tensor scale.
  void one_bit_off() {
    auto& rng = bench.rng();
    const std::uint32_t t = 17 + 2 * rng.below(8);
    std::uint32_t inverse = 3 * t;  // of itself modulo 8; each step doubles the bits
    for (int i = 0; i < 4; ++i) inverse *= 2 - 3 * t * inverse;
    const std::uint32_t bit = rng.bits(1) ? inverse : -inverse;
    const std::uint32_t s =
        ((bit << rng.below(22)) & 0x3FFFFF) | 0x800000 | static_cast<std::uint32_t>(rng.bits(1)) << 22;
    const float g = std::ldexp(static_cast<float>(s), static_cast<int>(rng.below(200)) - 120);
    const double wanted = std::ldexp(6.0 * t / 16 * g, static_cast<int>(rng.below(15)) - 6);
    const std::uint32_t most = std::min<std::uint32_t>(below(wanted * (1 + 0x1p-16)), finite_codes - 1);
    Block x;
    for (std::uint16_t& code : x) code = static_cast<std::uint16_t>(rng.below(most + 1) | sign());
    x[rng.below(16)] = static_cast<std::uint16_t>(most | sign());
    check(x, g);
  }

  /// To nearest, a block whose largest magnitude has the code `most`; of the others half are next to it.
  void beside(std::uint32_t most, float g) {
    auto& rng = bench.rng();
    Block x;
    for (std::uint16_t& code : x)
      code = static_cast<std::uint16_t>((rng.bits(1) ? most - 1 : rng.below(most)) | sign());
    x[rng.below(16)] = static_cast<std::uint16_t>(most | sign());
    check(x, g, std::nullopt, [](std::uint64_t) {});
  }

  /// The scale is another one for the number next to the largest, which is halfway between two scales, or the next
  /// number above.
  void neighbours() {
    auto& rng = bench.rng();
    const std::uint32_t scale = 8 + rng.below(118);  // of four bits
    const float g = std::ldexp(1.0F, static_cast<int>(rng.below(200)) - 100);
    const double tie = 3 * (decode(Format::ue4m3, scale) + decode(Format::ue4m3, scale + 1)) * double{g};
    beside(below(tie) + (scale % 2 == 0), g);
  }

  /// Scales at a power of two or just below, up to a sixteenth or by the last bits of the tensor scale; from below half
  /// the least one on.
  void powers() {
    auto& rng = bench.rng();
    const std::uint32_t significand = 128 + rng.below(128);
    const int exponent = significand < 192 ? 18 : 17;  // three times the tensor scale's is this 2^exponent
    const std::uint32_t bits = (significand << exponent) / 3 + rng.below(1U << rng.below(19));
    const int place = static_cast<int>(rng.below(180)) - 110;
    const float g = std::ldexp(static_cast<float>(std::min(bits, 0xFFFFFFU)), place);
    beside(below(std::ldexp(significand, place + exponent + 1 + static_cast<int>(rng.below(20)) - 11)), g);
  }

  void random(std::uint64_t i) {
    auto& rng = bench.rng();
    Block x;
    switch (i % 11) {
      case 0: {  // any codes, special ones seldom
        for (std::uint16_t& code : x) code = static_cast<std::uint16_t>(rng.below(finite_codes) | sign());
        if (rng.chance(0.1)) x[rng.below(16)] = static_cast<std::uint16_t>(0x7F80 | rng.bits(16));
        return check(x, any_scale());
      }
      case 1:
      case 2: {  // numbers of one size, as of one tensor
        const float g =
            i % 11 == 1 ? any_scale() : std::bit_cast<float>(0x30000000U + static_cast<std::uint32_t>(rng.bits(28)));
        const double size = std::ldexp(double{g}, static_cast<int>(rng.below(24)) - 10);
        for (std::uint16_t& code : x) {
          const double magnitude = size * static_cast<double>(rng.bits(20)) * 0x1p-17;
          code = rng.chance(0.05) ? sign() : static_cast<std::uint16_t>(below(magnitude) | sign());
        }
        return check(x, g);
      }
      case 3:
        return at_thresholds(any_scale());
      case 4:  // ties: tensor scales of few bits
        return at_thresholds(std::ldexp(static_cast<float>(1 + rng.below(16)),
                                        static_cast<int>(rng.bits(2) == 0 ? rng.below(9) : rng.below(258)) - 149));
      case 5: {  // tiny: subnormal tensor scales, numbers and thresholds
        const std::uint32_t code =
            1 + (rng.bits(2) == 0 ? rng.below(0x4000000) : static_cast<std::uint32_t>(rng.bits(1 + rng.below(25))));
        const float g = std::bit_cast<float>(code);
        if (rng.bits(1)) return at_thresholds(g);
        const std::uint32_t most = 1 + (below(std::ldexp(double{g}, static_cast<int>(rng.below(13)))));
        for (std::uint16_t& element : x) element = static_cast<std::uint16_t>(rng.below(most + 1) | sign());
        return check(x, g);
      }
      case 6: {  // at the ends of the scales: saturated, and rounded to zero
        const float g = any_scale();
        const double amax = (rng.bits(1) ? 2688 * (0.9 + 0.2 * static_cast<double>(rng.bits(10)) * 0x1p-10)
                                         : 6 * 0x1p-10 * static_cast<double>(rng.bits(10)) * 0x1p-8) *
                            g;
        const std::uint32_t most = below(amax);
        for (std::uint16_t& code : x)
          code = static_cast<std::uint16_t>(
              (rng.bits(2) == 0 ? rng.below(most + 1) : most - std::min(most, rng.below(0x280))) | sign());
        x[rng.below(16)] = static_cast<std::uint16_t>(most | sign());
        return check(x, g);
      }
      case 8:
      case 9:
        return almost_ties();
      case 10:
        return one_bit_off();
      default: {  // zeros, one special number, tensor scales that are refused
        x.fill(0);
        for (std::uint16_t& code : x)
          code = static_cast<std::uint16_t>((rng.chance(0.7) ? 0 : rng.below(finite_codes)) | sign());
        if (rng.bits(1)) x[rng.below(16)] = static_cast<std::uint16_t>(0x7F80 | sign() | (rng.bits(1) << rng.below(7)));
        constexpr std::array<std::uint32_t, 6> refused{0, 0x80000000, 0x7F800000, 0x7F800001, 0x7FC00000, 0xFF800000};
        const std::uint32_t pick = rng.below(12);
        return check(x, pick < 6 ? std::bit_cast<float>(refused[pick]) : pick == 6 ? -any_scale() : any_scale());
      }
    }
  }
};

template <class Ports>
int run(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_nvfp4");
  Dut<Ports> dut(bench);
  Tester<Ports> test{bench, dut};

  // Powers of two have all ties of the elements; from 2^-115 down thresholds are subnormal.
  for (const float g : {1.0F, 1.5F, 0x1.555556p-12F, 0x1.fffffep+3F, 0x1p-111F, 0x1.8p-126F, 0x1p-128F})
    test.elements(g);
  const std::uint64_t step = bench.sweep_step("largest magnitudes x 14 tensor scales", 14 * 0x8000ULL);
  for (const float g : {1.0F, 3.0F, 5.0F, 0x1.555556p-3F, 0x1.555554p-3F, 0x1.fffffep-100F, 0x1p-126F, 0x1.fffffcp-127F,
                        0x1p-149F, 0x1.8p-148F, 0x1.fffffep+127F, 0x1p+127F, 0x1.fffffep-112F, 0x1p-111F})
    test.scales(g, step);
  if constexpr (random_bits >= 1 && random_bits <= 8)
    for (const float g : {1.0F, 0x1p-111F, 0x1p+100F}) test.intervals(g);
  // A tensor scale that is a power of two but for one bit.
  for (unsigned bit = 0; bit < 23 && random_bits != 0; ++bit) {
    const Nvfp4Random random{.bits = random_bits};
    Block x;
    for (std::uint16_t& code : x) code = static_cast<std::uint16_t>(0x3F80U | test.sign());
    test.check(x, std::bit_cast<float>(0x3F800000U | 1U << bit), random, [](std::uint64_t) {});
  }
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    test.random(i);
    if (random_bits != 0 && i % 8 == 0) test.least_scales();
  }
  for (int i = 0; i < 5000; ++i) {
    test.neighbours();
    test.powers();
  }
  test.pipe.drain();
  return bench.finish();
}

}  // namespace narrowgauge::bench::nvfp4
