// SPDX-License-Identifier: Apache-2.0
// ng_eden_scale against its golden model: every scale under corrections of every size, those whose products are codes
// or ties of FP32 among them, with random words at the probability and beside it; corrections that are refused. With
// few random bits all words of a correction: as many go up as the probability says. Build parameter: NG_RAND_BITS.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/eden_scale.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr std::uint32_t words = std::uint32_t{1} << NG_RAND_BITS;

struct Tester {
  Bench& bench;
  Dut<Vdut>& dut;

  std::uint8_t check(std::uint32_t scale, float correction, std::uint32_t word) {
    dut->scale_i = static_cast<std::uint8_t>(scale);
    dut->correction_i = std::bit_cast<std::uint32_t>(correction);
    dut->rand_i = word;
    dut.eval();
    bench.vector();
    bench.expect_eq("scale_o", std::uint32_t{dut->scale_o},
                    std::uint32_t{eden_scale(static_cast<std::uint8_t>(scale), correction, word, NG_RAND_BITS)}, [&] {
                      return "scale_i = " + hex(scale) +
                             ", correction_i = " + hex(std::bit_cast<std::uint32_t>(correction)) +
                             ", rand_i = " + hex(word);
                    });
    return dut->scale_o;
  }

  /// Words at the probability and beside it, the ends, any.
  void around(std::uint32_t scale, float correction) {
    auto& rng = bench.rng();
    std::uint32_t word = rng.below(words);
    if (scale != 0x7F && std::isfinite(correction) && correction > 0 && rng.bits(2) != 0) {
      const float p = eden_place(static_cast<std::uint8_t>(scale), correction).p;
      word = static_cast<std::uint32_t>(std::ldexp(p, NG_RAND_BITS)) + rng.below(3);
      word = std::min(word - std::min(word, 1U), words - 1);
    }
    check(scale, correction, rng.bits(3) == 0 ? (rng.bits(1) ? words - 1 : 0) : word);
  }

  /// All words: as many go up as the probability says, counted on what comes out.
  void all_words(std::uint32_t scale, float correction) {
    const EdenPlace place = eden_place(static_cast<std::uint8_t>(scale), correction);
    std::uint32_t up = 0;
    for (std::uint32_t word = 0; word < words; ++word) up += check(scale, correction, word) - std::uint32_t{place.low};
    bench.expect_eq(
        "words that go up", up, static_cast<std::uint32_t>(std::ceil(std::ldexp(place.p, NG_RAND_BITS))), [&] {
          return "scale_i = " + hex(scale) + ", correction_i = " + hex(std::bit_cast<std::uint32_t>(correction));
        });
  }

  /// A correction of any size, or near 1, or one whose product with the scale is a code, a tie of FP32 below one or
  /// next to those.
  float any_correction(std::uint32_t scale) {
    auto& rng = bench.rng();
    const auto fraction = static_cast<std::uint32_t>(rng.bits(23));
    switch (rng.below(8)) {
      case 0:
        return std::bit_cast<float>(static_cast<std::uint32_t>(rng.bits(31)));
      case 1:
        return std::bit_cast<float>((100U + rng.below(45)) << 23 | fraction);
      case 2:
        return std::bit_cast<float>((110U + rng.below(35)) << 23 | (fraction & 0x7F0000U));
      case 3: {
        const double s = std::max(decode(Format::ue4m3, scale), 0x1p-9), wanted = decode(Format::ue4m3, rng.below(127));
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(wanted / s));
        return std::bit_cast<float>(bits + rng.below(5) - std::min(bits, 2U));
      }
      case 4:
        return std::bit_cast<float>((100U + rng.below(45)) << 23 |
                                    (rng.bits(1) ? 0x7FFFFF - rng.below(8) : rng.below(8)));
      default:
        return 1 + static_cast<float>(static_cast<double>(fraction) * 0x1p-26);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "eden_scale");
  Dut<Vdut> dut(bench);
  Tester test{bench, dut};
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (std::uint32_t scale = 0; scale < 128; ++scale) {
    for (const float c :
         {0.0F, -0.0F, -1.0F, inf, -inf, std::bit_cast<float>(0x7FC00000), std::bit_cast<float>(0x7F800001), 0x1p-126F,
          0x1.fffffcp-127F, 0x1p-149F, 0x1.fffffep+127F, 1.0F, 1.0625F})
      test.around(scale, c);
    if (NG_RAND_BITS <= 8 && scale != 0x7F)
      for (unsigned i = 0; i < 10; ++i) {
        const float c = test.any_correction(scale);
        if (std::isfinite(c) && c >= 0x1p-126F) test.all_words(scale, c);
      }
  }
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    const std::uint32_t scale = bench.rng().bits(2) == 0 ? bench.rng().below(16) : bench.rng().below(128);
    test.around(scale, test.any_correction(scale));
  }
  return bench.finish();
}
