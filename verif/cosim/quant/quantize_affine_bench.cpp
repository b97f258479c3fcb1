// SPDX-License-Identifier: Apache-2.0
// ng_quantize_affine against its golden model: numbers at every midpoint of codes under every zero point, and next to
// them; exact ties; random numbers and scales of any size, special numbers; the least random bits that round up.
// Build parameters: NG_LANES, NG_BITS, NG_INPUT, NG_POW2, NG_PER_LANE, NG_SIGNED, NG_TIES_AWAY, NG_RAND_BITS, NG_CUTS.
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/quantize_affine.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr AffineUnit unit{.input = static_cast<AffineInput>(NG_INPUT),
                          .bits = NG_BITS,
                          .power_of_two = NG_POW2,
                          .is_signed = NG_SIGNED,
                          .ties_away = NG_TIES_AWAY,
                          .random_bits = NG_RAND_BITS};
constexpr unsigned lanes = NG_LANES, bits = NG_BITS, rand_width = NG_RAND_BITS > 0 ? NG_RAND_BITS : 1;
constexpr unsigned shift_bits = unit.shift_bits();
constexpr bool per_lane = NG_PER_LANE;
constexpr bool is_float = unit.input == AffineInput::fp32;

/// What an element is quantized by.
struct Scale {
  AffineInverse inverse;
  int zero_point = 0;
};

struct Element {
  std::uint32_t x = 0;
  std::uint32_t random = 0;
};

using Scales = std::array<Scale, lanes>;
using Elements = std::array<Element, lanes>;

int code_of(const Scale& scale, const Element& element, bool stochastic) {
  return quantize_affine(unit, element.x, scale.inverse, scale.zero_point, stochastic, element.random);
}

bool is_special(std::uint32_t x) { return is_float && (x >> 23 & 0xFF) == 0xFF; }

struct Tester {
  Bench& bench;
  Dut<Vdut>& dut;
  CutPipe<Vdut> pipe{bench, dut};

  /// Scales of all lanes, or that of lane 0 for all.
  void check(Scales scales, const Elements& elements, bool stochastic) {
    bool special = false;
    std::array<std::uint32_t, lanes> expected;
    for (unsigned i = 0; i < lanes; ++i) {
      if (!per_lane) scales[i] = scales[0];
      const Scale& scale = scales[i];
      if (i == 0 || per_lane) {
        set_bits(dut->inverse_i, 24 * i, 24, scale.inverse.inverse);
        set_bits(dut->shift_i, shift_bits * i, shift_bits, scale.inverse.shift);
        set_bits(dut->zero_point_i, (bits + 1) * i, bits + 1, static_cast<std::uint64_t>(scale.zero_point));
      }
      set_bits(dut->a_i, 32 * i, 32, elements[i].x);
      set_bits(dut->rand_i, rand_width * i, rand_width, elements[i].random);
      expected[i] = static_cast<std::uint32_t>(code_of(scale, elements[i], stochastic)) & ((1U << bits) - 1);
      special |= is_special(elements[i].x);
    }
    dut->stochastic_i = stochastic;
    pipe([this, scales, elements, stochastic, expected, special] {
      for (unsigned i = 0; i < lanes; ++i) {
        bench.expect_eq("codes_o, lane " + std::to_string(i),
                        static_cast<std::uint32_t>(get_bits(dut->codes_o, bits * i, bits)), expected[i], [&] {
                          return "a_i = " + hex(elements[i].x) + ", inverse_i = " + hex(scales[i].inverse.inverse) +
                                 ", shift_i = " + std::to_string(scales[i].inverse.shift) +
                                 ", zero_point_i = " + std::to_string(scales[i].zero_point) +
                                 (stochastic ? ", rand_i = " + hex(elements[i].random) : ", nearest");
                        });
      }
      bench.expect_eq("special_o", static_cast<bool>(dut->special_o), special,
                      [&] { return "a_i of lane 0 = " + hex(elements[0].x); });
    });
  }

  /// The number whose product with the inverse is nearest to `target`, moved by a few last places.
  std::uint32_t number_near(double target, AffineInverse inverse, int places) {
    const double factor = unit.power_of_two ? 1 : inverse.inverse;
    const double x = std::ldexp(target / (factor > 0 ? factor : 1), static_cast<int>(inverse.shift) - unit.point());
    if (is_float) return std::bit_cast<std::uint32_t>(static_cast<float>(x)) + static_cast<std::uint32_t>(places);
    const double limited = std::clamp(std::nearbyint(x) + places, -0x1p31, 0x1p31 - 1);
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(limited));
  }

  AffineInverse any_inverse() {
    auto& rng = bench.rng();
    const auto shift = static_cast<unsigned>(rng.bits(shift_bits));
    switch (rng.below(4)) {
      case 0:
        return {.inverse = static_cast<std::uint32_t>(rng.bits(rng.below(25))), .shift = shift};  // 0 among them
      case 1:
        return {.inverse = 1U << rng.below(24), .shift = shift};
      default:
        return {.inverse = 0x800000U | static_cast<std::uint32_t>(rng.bits(23)), .shift = shift};
    }
  }

  int any_zero_point() { return static_cast<int>(bench.rng().below(2U << bits)) - (1 << bits); }

  std::uint32_t any_random() {
    // Often the ends: what must never go up, what goes up first.
    const auto random = static_cast<std::uint32_t>(bench.rng().bits(rand_width));
    if (bench.rng().bits(2) != 0) return random;
    return bench.rng().bits(1) ? (1U << rand_width) - 1 : 0;
  }

  /// The least random bits that round up, or one less; any where none do.
  std::uint32_t turning_random(const Scale& scale, std::uint32_t x) {
    const int down = code_of(scale, {x, 0}, true);
    std::uint32_t least = 0;
    for (int bit = unit.random_bits - 1; bit >= 0; --bit)
      if (const std::uint32_t more = least | 1U << bit; code_of(scale, {x, more}, true) == down) least = more;
    return std::min(least + static_cast<std::uint32_t>(bench.rng().bits(1)), (1U << rand_width) - 1);
  }

  /// All midpoints of codes, and beyond both ends, under all zero points, in changing lanes.
  void midpoints() {
    constexpr std::uint64_t codes = (1U << bits) + 4, zeros = 2U << bits;
    const std::uint64_t step = bench.sweep_step("midpoints x zero points", codes * zeros);
    for (std::uint64_t point = bench.rng().below(static_cast<std::uint32_t>(step)); point < codes * zeros;
         point += step) {
      const int zero_point = static_cast<int>(point % zeros) - (1 << bits);
      const double code = unit.low() - 2.5 + static_cast<double>(point / zeros);
      Scales scales;
      Elements elements;
      const AffineInverse inverse = any_inverse();
      for (unsigned i = 0; i < lanes; ++i) {
        scales[i] = {per_lane ? any_inverse() : inverse, zero_point};
        const int places = static_cast<int>((i + point) % 5) - 2;
        elements[i] = {number_near(code - zero_point, scales[i].inverse, places), any_random()};
      }
      check(scales, elements, bench.rng().bits(2) == 0);
    }
  }

  /// Products of one bit, at all places behind the shift: what is lost above and below hangs on that bit alone.
  void single_bits() {
    auto& rng = bench.rng();
    constexpr unsigned bits_of_x = is_float ? 1 : 32, base = unit.power_of_two ? 103 : 126;
    for (unsigned up = 0; up < (unit.power_of_two ? 1U : 24U); up += is_float ? 1 : 23) {
      for (unsigned right = 0; right < 64; ++right) {
        for (unsigned first = 0; first < bits_of_x; first += lanes) {
          Scales scales;
          Elements elements;
          const unsigned shift = is_float ? static_cast<unsigned>(rng.bits(shift_bits)) : right % (1U << shift_bits);
          for (unsigned i = 0; i < lanes; ++i) {
            scales[i] = {{.inverse = 1U << up, .shift = shift}, any_zero_point()};
            const auto exponent = static_cast<std::uint32_t>(
                std::clamp(static_cast<int>(base + shift) - static_cast<int>(right + i), 1, 254));
            const std::uint32_t x = is_float ? exponent << 23 : 1U << (first + i) % 32;
            const bool minus = rng.bits(1) != 0;
            elements[i] = {!minus ? x : is_float ? x | 1U << 31 : -x, any_random()};
          }
          check(scales, elements, rng.bits(3) == 0);
        }
      }
    }
  }

  /// A half and one bit below it, at all places: whether that is a tie hangs on the bit alone. Infinities over nothing.
  void halves_and_a_bit() {
    auto& rng = bench.rng();
    constexpr unsigned base = unit.power_of_two ? 103 : 126;
    for (unsigned up = 0; up < (unit.power_of_two ? 1U : 24U); up += is_float ? 1 : 23) {
      for (unsigned top = is_float ? 23 : 1; top < (is_float ? 24U : 31U); ++top) {
        for (unsigned low = 0; low < top; ++low) {
          Scales scales;
          Elements elements;
          const unsigned count = top + up + 1;  // how far to the right a half is
          const unsigned shift = is_float ? static_cast<unsigned>(rng.bits(shift_bits)) : count;
          if (shift >= 1U << shift_bits) continue;
          for (unsigned i = 0; i < lanes; ++i) {
            scales[i] = {{.inverse = 1U << up, .shift = shift}, any_zero_point()};
            const std::uint32_t below = 1U << (low + i) % top;
            const std::uint32_t x = is_float ? (base + shift - count) << 23 | below : 1U << top | below;
            const bool minus = rng.bits(1) != 0;
            elements[i] = {!minus ? x : is_float ? x | 1U << 31 : -x, any_random()};
          }
          check(scales, elements, false);
        }
      }
    }
    for (const std::uint32_t sign : {0U, 1U << 31}) {
      Scales scales;
      Elements elements;
      for (Scale& scale : scales) scale = {{.inverse = 0, .shift = 0}, any_zero_point()};
      for (Element& element : elements) element = {sign | (is_float ? 0x7F800000U : 1U), 0};
      check(scales, elements, false);
    }
  }

  /// Products with an odd number of halves, exactly: x is odd 2^i, the inverse a few bits.
  void ties() {
    auto& rng = bench.rng();
    Scales scales;
    Elements elements;
    const unsigned significant = unit.power_of_two ? 1 : 1 + 2 * rng.below(4), up = rng.below(21);
    const unsigned inverse = unit.power_of_two ? 1 : significant << up;
    const unsigned trailing = unit.power_of_two ? 0 : up;
    const auto shift = static_cast<unsigned>(rng.bits(shift_bits));
    for (unsigned i = 0; i < lanes; ++i) {
      scales[i] = {{.inverse = inverse, .shift = shift}, any_zero_point()};
      const Scale& scale = scales[per_lane ? i : 0];
      const int halves = static_cast<int>(rng.below(2U << bits)) - (1 << bits) - 2 * scale.zero_point;
      const auto odd = static_cast<double>(halves / static_cast<int>(significant) | 1);
      const double x = std::ldexp(odd, static_cast<int>(shift) - unit.point() - 1 - static_cast<int>(trailing));
      const bool exact = is_float || (x == std::nearbyint(x) && std::abs(x) < 0x1p31);
      const std::uint32_t code = !exact     ? static_cast<std::uint32_t>(rng.bits(32))
                                 : is_float ? std::bit_cast<std::uint32_t>(static_cast<float>(x))
                                            : static_cast<std::uint32_t>(static_cast<std::int64_t>(x));
      elements[i] = {code + (rng.bits(2) == 0 ? rng.below(3) - 1 : 0), any_random()};
    }
    check(scales, elements, rng.bits(3) == 0);
  }

  std::uint32_t any_number(const Scale& scale) {
    auto& rng = bench.rng();
    const auto sign = static_cast<std::uint32_t>(rng.bits(1) << 31);
    switch (rng.below(8)) {
      case 0:  // any bits
        return static_cast<std::uint32_t>(rng.bits(32));
      case 1:  // infinity, or a NaN with one bit; or the largest numbers
        if (is_float) return sign | 0x7F800000U | (1U << rng.below(24) & 0x7FFFFF);
        return sign - rng.below(3);
      case 2:  // small integers, subnormal numbers
        return is_float ? sign | static_cast<std::uint32_t>(rng.bits(rng.below(25)))
                        : (sign ? -1U : 1U) * static_cast<std::uint32_t>(rng.bits(rng.below(12)));
      case 3:  // a bit alone, of INT32 or of the exponent
        return is_float ? sign | 1U << (23 + rng.below(8)) : (sign ? -1U : 1U) << rng.below(32);
      case 4: {  // just where bits that a code cannot need begin, or far from them
        const int exponent = static_cast<int>(rng.below(rng.bits(2) == 0 ? 60U : 8U));
        const double size = std::ldexp(1.0, static_cast<int>(bits) + (rng.bits(1) ? exponent : -exponent));
        return number_near(sign ? -size : size, scale.inverse, static_cast<int>(rng.below(5)) - 2);
      }
      case 5: {  // less than a code, down to what random bits cannot see
        const double size = std::ldexp(1.0, -static_cast<int>(rng.below(20)));
        return number_near(sign ? -size : size, scale.inverse, static_cast<int>(rng.below(3)) - 1);
      }
      default:  // any code
        return number_near((static_cast<double>(rng.below(1U << 20)) / 0x1p20 - 0.5) * (3U << bits) - scale.zero_point,
                           scale.inverse, 0);
    }
  }

  void random_numbers() {
    Scales scales;
    Elements elements;
    const bool stochastic = bench.rng().bits(1);
    for (unsigned i = 0; i < lanes; ++i) {
      scales[i] = {any_inverse(), any_zero_point()};
      const Scale& scale = scales[per_lane ? i : 0];
      elements[i].x = any_number(scale);
      elements[i].random = stochastic && bench.rng().bits(1) ? turning_random(scale, elements[i].x) : any_random();
    }
    check(scales, elements, stochastic);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_affine");
  Dut<Vdut> dut(bench);
  Tester test{bench, dut};

  test.midpoints();
  for (int i = 0; i < 3; ++i) {
    test.single_bits();
    test.halves_and_a_bit();
  }
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i % 4 == 0)
      test.ties();
    else
      test.random_numbers();
  }
  test.pipe.drain();
  return bench.finish();
}
