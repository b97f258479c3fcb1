// SPDX-License-Identifier: Apache-2.0
// ng_quantize_int4 against its golden model: every significand of number and scale, of eight bits each, at every
// distance of their exponents that matters; bounds with a single bit below a number's last place; random numbers about
// the bounds of random scales. Build parameters: NG_LANES, NG_CUTS.
#include <array>
#include <bit>
#include <string>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/luq/quantize_int4.hpp"
#include "narrowgauge/luq/quantize_luq.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES;
using Numbers = std::array<std::uint16_t, lanes>;

struct Tester {
  Bench& bench;
  Dut<Vdut>& dut;
  CutPipe<Vdut> pipe{bench, dut};

  void check(const Numbers& x, std::uint32_t scale) {
    const float number = std::bit_cast<float>(scale);
    bool special = !is_int4_scale(number);
    std::array<std::uint8_t, lanes> expected;
    for (unsigned i = 0; i < lanes; ++i) {
      set_bits(dut->a_i, 16 * i, 16, x[i]);
      special |= is_special_bf16(x[i]);
      expected[i] = quantize_int4(x[i], number);
    }
    dut->scale_i = scale;
    pipe([this, x, scale, expected, special] {
      for (unsigned i = 0; i < lanes; ++i)
        bench.expect_eq("codes_o, lane " + std::to_string(i),
                        static_cast<std::uint32_t>(get_bits(dut->codes_o, 4 * i, 4)), std::uint32_t{expected[i]},
                        [&] { return "scale_i = " + hex(scale) + ", a_i = " + hex(x[i]); });
      bench.expect_eq("special_o", static_cast<bool>(dut->special_o), special,
                      [&] { return "scale_i = " + hex(scale) + ", a_i of lane 0 = " + hex(x[0]); });
    });
  }

  /// From a quarter of the scale, which is 0, to beyond the last bound.
  void significands() {
    constexpr unsigned distances = 7, groups = (256 + lanes - 1) / lanes;  // of 128 significands with both signs
    constexpr std::uint64_t points = std::uint64_t{128} * distances * groups;
    const std::uint64_t step = bench.sweep_step("scales x distances x numbers", points);
    for (std::uint64_t point = bench.rng().below(static_cast<std::uint32_t>(step)); point < points; point += step) {
      const unsigned group = static_cast<unsigned>(point % groups), exponent = 8 + bench.rng().below(230);
      const auto distance = static_cast<unsigned>(point / groups % distances);
      Numbers x;
      for (unsigned i = 0; i < lanes; ++i) {
        const unsigned s = group * lanes + (i + static_cast<unsigned>(point)) % lanes;
        x[i] = static_cast<std::uint16_t>((exponent + distance - 2) << 7 | (s & 127) | (s & 128) << 8);
      }
      check(x, exponent << 23 | static_cast<std::uint32_t>(point / groups / distances) << 16);
    }
  }

  /// Odd bounds, where equality counts, that are a BF16 number and a single bit below its last place: that number is
  /// under the bound. Every such bit, the bound in every binade above the scale's, under normal and subnormal scales.
  void single_bits() {
    auto& rng = bench.rng();
    for (std::uint32_t odd = 3; odd < 16; odd += 4)  // 2 k + 1
      for (const bool normal : {false, true})
        for (unsigned shift = 17; shift <= (normal ? 20U : 17U); ++shift)
          for (unsigned bit = 0; bit < shift; ++bit) {
            const unsigned first = rng.below(256);
            for (unsigned n = 0; n < 256; ++n) {
              const std::uint32_t top = (first + n) % 256, product = top << shift | 1U << bit, m = product / odd;
              if (product % odd != 0 || (normal && top < 128) || normal != (m >> 23 == 1) || m >> 24 != 0) continue;
              const unsigned exponent = normal ? 1 + rng.below(250) : 1;
              const std::uint32_t code = ((exponent - 1 + shift - 17) << 7) + top;
              Numbers x;
              for (unsigned i = 0; i < lanes; ++i)  // and the next one
                x[i] = static_cast<std::uint16_t>((code + i % 2) | rng.bits(1) << 15);
              check(x, ((exponent - 1) << 23) + m);
              break;
            }
          }
  }

  void random_numbers(std::uint64_t i) {
    auto& rng = bench.rng();
    std::uint32_t scale = static_cast<std::uint32_t>(rng.bits(31));
    switch (i % 4) {
      case 0:  // few bits of significand: ties
        scale &= 0xFFFFFFFFU << (12 + rng.below(12));
        break;
      case 1:  // the ends of FP32
        scale = (rng.bits(1) ? rng.below(4) : 250 + rng.below(6)) << 23 |
                (static_cast<std::uint32_t>(rng.bits(23)) & 0xFFFFFFFFU << rng.below(24));
        break;
      case 2:  // subnormal, of any size
        scale = static_cast<std::uint32_t>(rng.bits(rng.below(24)));
        break;
      default:
        break;
    }
    const double unit = is_int4_scale(std::bit_cast<float>(scale)) ? double{std::bit_cast<float>(scale)} : 1;
    Numbers x;
    for (std::uint16_t& code : x) {
      const auto sign = static_cast<std::uint16_t>(rng.bits(1) << 15);
      switch (rng.below(4)) {
        case 0:  // any code; infinity, or a NaN with one bit
          code = static_cast<std::uint16_t>(rng.bits(16));
          if (rng.bits(2) == 0) code = static_cast<std::uint16_t>(sign | 0x7F80 | (1U << rng.below(8) & 0x7F));
          break;
        case 1:  // subnormal, zeros
          code = static_cast<std::uint16_t>(rng.bits(rng.below(8)) | sign);
          break;
        default: {  // a bound, or next to it
          const auto bound = static_cast<float>((rng.below(9) + 0.5) * unit);
          const std::uint32_t near = (std::bit_cast<std::uint32_t>(bound) >> 16) + rng.below(3) - 1;
          code = static_cast<std::uint16_t>((near & 0x7FFF) | sign);
        }
      }
    }
    check(x, scale);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_int4");
  Dut<Vdut> dut(bench);
  Tester test{bench, dut};

  test.significands();
  test.single_bits();
  for (std::uint64_t i = 0; i < bench.budget(); ++i) test.random_numbers(i);
  test.pipe.drain();
  return bench.finish();
}
