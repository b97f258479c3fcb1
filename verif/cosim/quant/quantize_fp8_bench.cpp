// SPDX-License-Identifier: Apache-2.0
// ng_quantize_fp8 against its golden model: every BF16 number under every scale; expectation and variance over all
// random words in every interval of the formats; random numbers about the limits and midpoints of the formats under
// random scales. Build parameters: NG_LANES, NG_FORMAT_SET, NG_RAND_BITS, NG_TINY_SCALES, NG_CUTS.
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/quantize_fp8.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES;
constexpr unsigned formats = NG_FORMAT_SET;
constexpr unsigned random_bits = NG_RAND_BITS;
using Numbers = std::array<std::uint16_t, lanes>;
using Random = std::array<std::uint32_t, lanes>;

Format format(bool port) {
  return formats == format_set::e4m3 || (formats == format_set::fp8 && !port) ? Format::e4m3 : Format::e5m2;
}

/// Exponent of the largest number.
int top_exp(const FormatDesc& f) { return static_cast<int>(f.max_code() >> f.man_bits) - f.bias; }

float number(std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); }

struct Tester {
  Bench& bench;
  Dut<Vdut>& dut;
  CutPipe<Vdut> pipe{bench, dut};

  /// Applies the inputs and compares; `after` gets the codes.
  template <class After>
  void check(const Numbers& x, std::uint8_t scale, bool fmt, bool stochastic, const Random& random, After after) {
    std::array<std::uint8_t, lanes> expected;
    for (unsigned i = 0; i < lanes; ++i) {
      set_bits(dut->a_i, 16 * i, 16, x[i]);
      set_bits(dut->rand_i, random_bits * i, random_bits, random[i]);
      expected[i] = quantize_fp8(x[i], scale, format(fmt), stochastic, random[i], random_bits, NG_TINY_SCALES);
    }
    dut->scale_i = scale;
    dut->fmt_i = fmt;
    dut->stochastic_i = stochastic;
    pipe([this, x, scale, fmt, stochastic, random, expected, after] {
      std::array<std::uint8_t, lanes> codes;
      for (unsigned i = 0; i < lanes; ++i) {
        codes[i] = static_cast<std::uint8_t>(get_bits(dut->codes_o, 8 * i, 8));
        bench.expect_eq("codes_o, lane " + std::to_string(i), std::uint32_t{codes[i]}, std::uint32_t{expected[i]}, [&] {
          return std::string(desc(format(fmt)).name) + ", scale_i = " + hex(scale) + ", a_i = " + hex(x[i]) +
                 (stochastic ? ", rand_i = " + hex(random[i]) : ", nearest");
        });
      }
      after(codes);
    });
  }
  void check(const Numbers& x, std::uint8_t scale, bool fmt, bool stochastic) {
    check(x, scale, fmt, stochastic, any_random(), [](const auto&) {});
  }

  Random any_random() {
    Random random;
    // Often the ends: what must never go up, what goes up first.
    for (std::uint32_t& r : random) {
      r = static_cast<std::uint32_t>(bench.rng().bits(random_bits));
      if (bench.rng().bits(2) == 0) r = bench.rng().bits(1) ? (std::uint32_t{1} << random_bits) - 1 : 0;
    }
    return random;
  }

  /// Every number under every scale, `lanes` numbers at once.
  void numbers(std::uint64_t step) {
    constexpr std::uint64_t groups = (0x10000 + lanes - 1) / lanes;
    for (std::uint64_t point = bench.rng().below(static_cast<std::uint32_t>(step)); point < 4 * 256 * groups;
         point += step) {
      Numbers x;
      for (unsigned i = 0; i < lanes; ++i)
        x[i] = static_cast<std::uint16_t>(point / 1024 * lanes + (i + point) % lanes);
      check(x, static_cast<std::uint8_t>(point >> 2), point & 1, point & 2);
    }
  }

  /// Expectation and variance of a number over all random words, from the unit's codes.
  void moments(std::uint16_t x, std::uint8_t scale, bool fmt) {
    const FormatDesc& f = desc(format(fmt));
    const double y = std::fabs(number(x)) / decode(Format::e8m0, scale);
    std::uint32_t code = 0;
    while (code < f.max_code() && decode(f, code + 1) <= y) ++code;
    const double low = decode(f, code), high = code < f.max_code() ? decode(f, code + 1) : low;
    constexpr std::uint32_t words = std::uint32_t{1} << random_bits;
    const double step = high - low;
    const double up = step > 0 ? std::floor((y - low) / step * words) : 0;  // of all words; step is a power of two
    auto values = std::make_shared<std::vector<double>>(words);  // of the codes, by word; with cuts they are seen twice
    for (std::uint32_t first = 0; first < words; first += lanes) {
      Numbers numbers;
      Random random;
      for (unsigned i = 0; i < lanes; ++i) {
        numbers[i] = x;
        random[i] = (first + i) % words;
      }
      const std::uint32_t count = std::min<std::uint32_t>(lanes, words - first);
      check(numbers, scale, fmt, true, random, [=, this](const std::array<std::uint8_t, lanes>& codes) {
        for (unsigned i = 0; i < count; ++i) (*values)[first + i] = std::fabs(decode(f, codes[i]));
        if (first + count < words) return;
        double sum = 0, squares = 0;
        for (const double value : *values) {
          sum += value;
          squares += (value - low) * (value - low);
        }
        const auto inputs = [&] {
          return std::string(f.name) + ", scale_i = " + hex(scale) + ", a_i = " + hex(x) + ", all random words";
        };
        // The mean of all words is l + floor(delta 2^r) / 2^r step, and the mean square from l that share of step^2.
        bench.expect_eq("expectation", sum, words * low + up * step, inputs);
        bench.expect_eq("mean square", squares, up * step * step, inputs);
        if (step > 0 && up * step == (y - low) * words) {
          const double mean = sum / words, variance = squares / words - (mean - low) * (mean - low);
          bench.expect_eq("unbiased expectation", mean, y, inputs);
          bench.expect_eq("variance", variance, (y - low) * (high - y), inputs);
        }
      });
    }
  }

  /// Every BF16 number from below the least to above the largest of the format.
  void intervals(bool fmt, std::uint64_t step) {
    const FormatDesc& f = desc(format(fmt));
    const int least = 127 + f.min_exp() - f.man_bits - 9, most = 127 + top_exp(f) + 1;
    for (std::uint32_t x = static_cast<std::uint32_t>(least) << 7; x < static_cast<std::uint32_t>(most) << 7;
         x += static_cast<std::uint32_t>(step)) {
      const int binades = static_cast<int>(bench.rng().below(80)) - 40;  // of the scale and the number
      moments(static_cast<std::uint16_t>(x + static_cast<std::uint32_t>(binades * 128) + (bench.rng().bits(1) << 15)),
              static_cast<std::uint8_t>(127 + binades), fmt);
    }
  }

  void random_numbers(std::uint64_t i) {
    auto& rng = bench.rng();
    const bool fmt = rng.bits(1);
    const FormatDesc& f = desc(format(fmt));
    const auto scale = static_cast<std::uint8_t>(rng.bits(2) == 0 ? rng.below(24) : rng.below(256));
    Numbers x;
    for (std::uint16_t& code : x) {
      const auto sign = static_cast<std::uint16_t>(rng.bits(1) << 15);
      switch (i / 2 % 4) {
        case 0:  // any code; infinity, or a NaN with one bit (found 2026-11-22 by an injected fault)
          code = static_cast<std::uint16_t>(rng.bits(16));
          if (rng.bits(2) == 0) code = static_cast<std::uint16_t>(sign | 0x7F80 | (1U << rng.below(8) & 0x7F));
          break;
        case 1: {  // a midpoint of the format, or next to it
          const std::uint32_t k = rng.below(f.max_code());
          const double y = (decode(f, k) + decode(f, k + 1)) / 2 * decode(Format::e8m0, scale);
          const std::uint32_t near =
              (std::bit_cast<std::uint32_t>(static_cast<float>(std::isfinite(y) ? y : 1.0)) >> 16) + rng.below(3) - 1;
          code = static_cast<std::uint16_t>((near & 0x7FFF) | sign);
          break;
        }
        case 2: {  // about the largest number, and down to a part of the least one that few random bits see
          const int exponent = rng.bits(1) ? top_exp(f) + static_cast<int>(rng.below(3)) - 1
                                           : f.min_exp() - f.man_bits + static_cast<int>(rng.below(12)) - 9;
          const int field = std::clamp(exponent + scale, 0, 255);
          code = static_cast<std::uint16_t>(static_cast<std::uint32_t>(field) << 7 | rng.bits(7) | sign);
          break;
        }
        default:  // subnormal, zeros, specials
          code = static_cast<std::uint16_t>(rng.bits(rng.below(8)) | sign |
                                            (rng.bits(3) == 0   ? 0x7F80U
                                             : rng.bits(2) == 0 ? 0x80U
                                                                : 0U));
      }
    }
    if (rng.bits(1)) return check(x, scale, fmt, i % 2 != 0);
    // The least random bits that round up, or one less (found 2026-11-22 by an injected fault in the shift).
    Random random;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto code = [&](std::uint32_t r) {
        return quantize_fp8(x[lane], scale, format(fmt), true, r, random_bits, NG_TINY_SCALES);
      };
      const std::uint8_t down = code(0);
      std::uint32_t least = 0;
      for (int bit = random_bits - 1; bit >= 0; --bit)
        if (const std::uint32_t more = least | std::uint32_t{1} << bit; code(more) == down) least = more;
      random[lane] = std::min(least + static_cast<std::uint32_t>(rng.bits(1)), (std::uint32_t{1} << random_bits) - 1);
    }
    check(x, scale, fmt, true, random, [](const auto&) {});
  }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_fp8");
  Dut<Vdut> dut(bench);
  Tester test{bench, dut};

  test.numbers(bench.sweep_step("numbers x scales x roundings x formats", 1024 * ((0x10000 + lanes - 1) / lanes)));
  if constexpr (random_bits <= 8) {
    constexpr std::uint64_t vectors = ((1U << random_bits) + lanes - 1) / lanes;
    const std::uint64_t step = bench.sweep_step("numbers x all random words", 2 * 44 * 128 * vectors);
    for (const bool fmt : {false, true})
      if (formats == format_set::fp8 || !fmt) test.intervals(fmt, step);
  }
  for (std::uint64_t i = 0; i < bench.budget(); ++i) test.random_numbers(i);
  test.pipe.drain();
  return bench.finish();
}
