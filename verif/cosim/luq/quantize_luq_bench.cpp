// SPDX-License-Identifier: Apache-2.0
// ng_quantize_luq against its golden model: every BF16 number under every scale; expectation and variance over all
// random words of every number of the grid's octaves; random numbers about grid, midpoints and limits under random
// scales. Build parameters: NG_LANES, NG_RAND_BITS, NG_CUTS.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "narrowgauge/luq/mul_luq.hpp"
#include "quantizer_tester.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES;
constexpr unsigned random_bits = NG_RAND_BITS;

float number(std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); }

struct Tester : QuantizerTester<lanes, 4, random_bits, 8> {
  static auto golden(std::uint8_t scale, bool stochastic) {
    return [=](std::uint16_t x, std::uint32_t r) { return quantize_luq(x, scale, stochastic, r, random_bits); };
  }
  template <class After>
  void check(const Numbers& x, std::uint8_t scale, bool stochastic, const Random& random, After after) {
    QuantizerTester::check(x, scale, scale == 0xFF, stochastic, random, golden(scale, stochastic), after);
  }
  void check(const Numbers& x, std::uint8_t scale, bool stochastic, const Random& random) {
    check(x, scale, stochastic, random, [](const Codes&) {});
  }

  /// Every number under every scale, `lanes` numbers at once.
  void numbers(std::uint64_t step) {
    constexpr std::uint64_t groups = (0x10000 + lanes - 1) / lanes;
    for (std::uint64_t point = bench.rng().below(static_cast<std::uint32_t>(step)); point < 2 * 256 * groups;
         point += step) {
      Numbers x;
      for (unsigned i = 0; i < lanes; ++i) x[i] = static_cast<std::uint16_t>(point / 512 * lanes + (i + point) % lanes);
      check(x, static_cast<std::uint8_t>(point >> 1), point & 1, any_random());
    }
  }

  /// Of a number over all random words: as many go up as the rule says, and expectation and variance are exact where
  /// the random bits hold the distance to the grid.
  void moments(std::uint16_t x, std::uint8_t scale) {
    const double y = std::fabs(number(x)) / decode(Format::e8m0, scale);
    std::uint32_t field = 0;
    while (field < 7 && luq_value(field + 1) <= y) ++field;
    const double low = luq_value(field), step = field < 7 ? luq_value(field + 1) - low : 0;
    const double up = step > 0 ? std::floor((y - low) / step * words) : 0;
    auto values = std::make_shared<std::vector<double>>(words);  // of the codes, by word; with cuts they are seen twice
    for (std::uint32_t first = 0; first < words; first += lanes) {
      Numbers x_of_lanes;
      Random random;
      x_of_lanes.fill(x);
      for (unsigned i = 0; i < lanes; ++i) random[i] = (first + i) % words;
      const std::uint32_t count = std::min(lanes, words - first);
      check(x_of_lanes, scale, true, random, [=, this](const Codes& codes) {
        for (unsigned i = 0; i < count; ++i) (*values)[first + i] = std::abs(luq_value(codes[i]));
        if (first + count < words) return;
        double sum = 0, squares = 0;
        for (const double value : *values) {
          sum += value;
          squares += (value - low) * (value - low);
        }
        const auto inputs = [&] { return "scale_i = " + hex(scale) + ", a_i = " + hex(x) + ", all random words"; };
        bench.expect_eq("expectation", sum, words * low + up * step, inputs);
        bench.expect_eq("mean square", squares, up * step * step, inputs);
        if (step > 0 && up * step == (y - low) * words) {
          const double mean = sum / words, variance = squares / words - (mean - low) * (mean - low);
          bench.expect_eq("unbiased expectation", mean, y, inputs);
          bench.expect_eq("variance", variance, (y - low) * (low + step - y), inputs);
        }
      });
    }
  }

  /// Every BF16 number from 2^-10 to 2^8 of alpha.
  void octaves(std::uint64_t step) {
    for (std::uint32_t x = 117U << 7; x < 135U << 7; x += static_cast<std::uint32_t>(step)) {
      const int binades = static_cast<int>(bench.rng().below(80)) - 40;  // of the scale and the number
      moments(static_cast<std::uint16_t>(x + static_cast<std::uint32_t>(binades * 128) + (bench.rng().bits(1) << 15)),
              static_cast<std::uint8_t>(127 + binades));
    }
  }

  void random_numbers(std::uint64_t i) {
    auto& rng = bench.rng();
    const auto scale = static_cast<std::uint8_t>(rng.bits(2) == 0 ? rng.below(6) : rng.below(256));
    Numbers x;
    for (std::uint16_t& code : x) {
      const auto sign = static_cast<std::uint16_t>(rng.bits(1) << 15);
      switch (i / 2 % 4) {
        case 0:
          code = any_or_special(rng, sign);
          break;
        case 1: {  // a number of the grid or a midpoint, or next to it
          const int field = std::clamp(static_cast<int>(rng.below(11)) - 2 + scale, 0, 254);
          const std::uint32_t near =
              static_cast<std::uint32_t>(field << 7 | (rng.bits(1) ? 0x40 : 0)) + rng.below(3) - 1;
          code = static_cast<std::uint16_t>((near & 0x7FFF) | sign);
          break;
        }
        case 2: {  // from below what few random bits see to above the largest number
          const int field = std::clamp(static_cast<int>(rng.below(36)) - 26 + scale, 0, 255);
          code = static_cast<std::uint16_t>(static_cast<std::uint32_t>(field) << 7 | rng.bits(7) | sign);
          break;
        }
        default:
          code = tiny_or_special(rng, sign);
      }
    }
    if (rng.bits(1)) {
      check(x, scale, i % 2 != 0, any_random());
      return;
    }
    check(x, scale, true, deciding_random(x, golden(scale, true)));
  }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_luq");
  Dut<Vdut> dut(bench);
  Tester test{{bench, dut}};

  test.numbers(bench.sweep_step("numbers x scales x roundings", 512 * ((0x10000 + lanes - 1) / lanes)));
  if constexpr (random_bits <= 8) {
    constexpr std::uint64_t vectors = (Tester::words + lanes - 1) / lanes;
    test.octaves(bench.sweep_step("numbers x all random words", 18 * 128 * vectors));
  }
  for (std::uint64_t i = 0; i < bench.budget(); ++i) test.random_numbers(i);
  test.pipe.drain();
  return bench.finish();
}
