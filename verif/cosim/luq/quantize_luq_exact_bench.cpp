// SPDX-License-Identifier: Apache-2.0
// ng_quantize_luq_exact against its golden model: every pair of significands at every distance of exponents that
// matters, over all random words and to the nearest power, with expectation and variance; random numbers about grid,
// midpoints and limits under random alphas. Build parameters: NG_LANES, NG_LEVELS, NG_ALPHA, NG_RAND_BITS, NG_CUTS.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <string>

#include "narrowgauge/luq/quantize_luq_exact.hpp"
#include "quantizer_tester.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES;
constexpr int levels = NG_LEVELS;
constexpr unsigned code_bits = levels == luq_storage_levels ? 4 : 5;
constexpr int mantissa_bits = NG_ALPHA == 0 ? 7 : 23;
constexpr unsigned random_bits = NG_RAND_BITS;

struct Tester : QuantizerTester<lanes, code_bits, random_bits, mantissa_bits + 8> {
  static auto golden(float alpha, bool stochastic) {
    return [=](std::uint16_t x, std::uint32_t r) {
      return quantize_luq_exact(x, alpha, levels, stochastic, r, random_bits);
    };
  }
  template <class After>
  void check(const Numbers& x, std::uint32_t scale, bool stochastic, const Random& random, After after) {
    const float alpha = luq_scale(scale, mantissa_bits);
    QuantizerTester::check(x, scale, !is_luq_scale(alpha), stochastic, random, golden(alpha, stochastic), after);
  }
  void check(const Numbers& x, std::uint32_t scale, bool stochastic, const Random& random) {
    check(x, scale, stochastic, random, [](const Codes&) {});
  }

  /// scale_i of an exponent field and the upper seven bits of a mantissa; the others random, often zeros.
  std::uint32_t alpha_of(unsigned exponent, std::uint32_t mantissa) {
    std::uint32_t scale = (exponent << 7 | mantissa) << (mantissa_bits - 7);
    if (mantissa_bits > 7 && bench.rng().bits(1)) scale |= bench.rng().bits(mantissa_bits - 7);
    return scale;
  }

  /// x of significand s over alpha of significand m, both 128 to 255 in BF16, with x's exponent `distance` above: of
  /// 2^r words exactly floor(delta 2^r) go up.
  void moments(std::uint32_t s, std::uint32_t mantissa, int distance) {
    const unsigned exponent = 32 + bench.rng().below(192);
    const auto code = static_cast<std::uint16_t>((exponent + static_cast<unsigned>(distance)) << 7 | (s & 127) |
                                                 bench.rng().bits(1) << 15);
    const std::uint32_t scale = alpha_of(exponent, mantissa);
    // |x| and alpha as integers in one unit, below 2^(24 + 16) each; the sums below 2^(24 + 14).
    const std::uint64_t alpha = (scale & ((1U << mantissa_bits) - 1)) | 1U << mantissa_bits;
    constexpr int fraction = mantissa_bits - 7;
    std::uint64_t number = std::uint64_t{s} << fraction, unit = alpha;
    if (distance >= 0)
      number <<= distance;
    else
      unit <<= -distance;
    constexpr std::uint64_t top = 1U << (levels - 1);  // in units of alpha, as low and step
    std::uint64_t low = 0, step = 1;
    while (low < top && (low + step) * unit <= number) {
      low += step;
      step = low;
    }
    const std::uint64_t above = low < top ? number - low * unit : 0;
    const std::uint64_t up = (above << random_bits) / (step * unit);
    auto values = std::make_shared<std::array<std::uint64_t, words>>();  // by word; with cuts they are seen twice
    for (std::uint32_t first = 0; first < words; first += lanes) {
      Numbers x;
      Random random;
      x.fill(code);
      for (unsigned i = 0; i < lanes; ++i) random[i] = (first + i) % words;
      const std::uint32_t count = std::min(lanes, words - first);
      check(x, scale, true, random, [=, this](const Codes& codes) {
        for (unsigned i = 0; i < count; ++i)
          (*values)[first + i] = static_cast<std::uint64_t>(std::abs(luq_value(codes[i], levels)));
        if (first + count < words) return;
        std::uint64_t sum = 0, squares = 0;  // of values; of their distances from the number of the grid below
        for (const std::uint64_t value : *values) {
          sum += value;
          squares += (value - low) * (value - low);
        }
        const auto inputs = [&] { return "scale_i = " + hex(scale) + ", a_i = " + hex(code) + ", all random words"; };
        bench.expect_eq("expectation", sum, words * low + up * step, inputs);
        bench.expect_eq("mean square", squares, up * step * step, inputs);
      });
    }
  }

  /// All significands of x and alpha at all distances from where no random word goes up to beyond the grid; each also
  /// to the nearest power.
  void significands(std::uint64_t vectors) {
    constexpr int lowest = -static_cast<int>(std::min(random_bits, 8U)) - 2, distances = 11 - lowest;
    constexpr std::uint64_t points = std::uint64_t{128} * 128 * distances;
    const std::uint64_t step = bench.sweep_step("significands x alphas x distances x words", points * vectors);
    for (std::uint64_t point = bench.rng().below(static_cast<std::uint32_t>(step)); point < points; point += step) {
      const auto s = static_cast<std::uint32_t>(128 + point % 128), m = static_cast<std::uint32_t>(point / 128 % 128);
      const int distance = lowest + static_cast<int>(point / (128 * 128));
      if constexpr (random_bits <= 8) moments(s, m, distance);
      Numbers x;
      const unsigned exponent = 32 + bench.rng().below(192);
      for (std::uint16_t& code : x)
        code = static_cast<std::uint16_t>((exponent + static_cast<unsigned>(distance)) << 7 | (s & 127));
      check(x, alpha_of(exponent, m), false, any_random());
    }
  }

  void random_numbers(std::uint64_t i) {
    auto& rng = bench.rng();
    unsigned exponent = rng.bits(2) == 0 ? rng.below(8) : rng.below(256);  // of alpha
    if (rng.bits(4) == 0) exponent = 255 * rng.bits(1);
    std::uint32_t scale = alpha_of(exponent, static_cast<std::uint32_t>(rng.bits(rng.bits(1) ? 7 : 2)));
    const auto top = static_cast<std::uint16_t>(scale >> (mantissa_bits - 7));  // alpha, as BF16 has it
    Numbers x;
    for (std::uint16_t& code : x) {
      const auto sign = static_cast<std::uint16_t>(rng.bits(1) << 15);
      switch (i / 2 % 4) {
        case 0:
          code = any_or_special(rng, sign);
          break;
        case 1: {  // a number of the grid, or half as much again, or next to it
          std::uint32_t near = top + 128 * rng.below(11) - 256;
          if (rng.bits(1)) near = (near & 0x7F80) | ((top & 127) < 43 ? (top & 127) + 64 + (top & 127) / 2 : top & 127);
          code = static_cast<std::uint16_t>(((near + rng.below(3) - 1) & 0x7FFF) | sign);
          break;
        }
        case 2: {  // from below what few random bits see to above the largest number, or a power of two away
          const int distance =
              rng.bits(1) ? static_cast<int>(rng.below(38)) - 26 : (1 << rng.below(8)) * (rng.bits(1) ? 1 : -1);
          const int field = std::clamp(distance + static_cast<int>(exponent), 0, 255);
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
    check(x, scale, true, deciding_random(x, golden(luq_scale(scale, mantissa_bits), true)));
  }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_luq_exact");
  Dut<Vdut> dut(bench);
  Tester test{{bench, dut}};

  test.significands(random_bits <= 8 ? 1 + (Tester::words + lanes - 1) / lanes : 1);
  for (std::uint64_t i = 0; i < bench.budget(); ++i) test.random_numbers(i);
  test.pipe.drain();
  return bench.finish();
}
