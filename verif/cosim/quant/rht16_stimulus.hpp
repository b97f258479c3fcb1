// SPDX-License-Identifier: Apache-2.0
// The blocks that the benches of ng_rht16 and ng_rht16_folded go through: each bit of each element alone, pairs that
// cancel, blocks of every largest exponent, special numbers; random blocks of eight kinds, spreads around the window
// among them. Build parameter: NG_WINDOW.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "../bench.hpp"
#include "narrowgauge/quant/rht16.hpp"

namespace narrowgauge::bench {

class Rht16Stimulus {
 public:
  explicit Rht16Stimulus(Bench& bench) : bench_(bench) {}

  /// Gives check(block) the directed blocks, and then as many random ones as the bench's budget says.
  template <class Check>
  void run(Check&& check) {
    check(Rht16Block{});
    for (std::size_t r = 0; r < 16; ++r) {
      for (unsigned bit = 0; bit < 16; ++bit) {
        Rht16Block x{};
        x[r] = static_cast<std::uint16_t>(1U << bit);
        check(x);
        for (std::uint16_t& code : x) code ^= 0x3F80;  // beside ones, with which it may cancel
        check(x);
      }
    }
    // Blocks of every largest exponent, all mantissas full: the largest sum; and what is left when it cancels.
    for (unsigned field = 0; field < 256; ++field) {
      for (const unsigned mantissa : {0U, 1U, 0x7FU}) {
        for (const bool aligned : {false, true}) {
          Rht16Block x{};
          for (std::size_t r = 0; r < 16; ++r) x[r] = code(aligned && (0xD7E8 >> r & 1), field, mantissa);
          check(x);
          for (std::size_t r = 0; r < 16; r += 5) x[r] ^= 1;
          check(x);
          x[7] = code(true, field > 3 ? field - 3 : 0, 5);
          check(x);
        }
      }
    }
    for (const std::uint16_t special : {0x7F80, 0xFF80, 0x7FC0, 0xFFFF, 0x7F81}) {
      for (std::size_t r = 0; r < 16; ++r) {
        Rht16Block x = random_block(0);
        x[r] = special;
        check(x);
      }
    }
    // The largest sum in each result, around overflow.
    for (unsigned c = 0; c < 16; ++c) {
      for (unsigned field = 250; field < 255; ++field) {
        for (const unsigned mantissa : {0U, 0x7EU, 0x7FU}) {
          Rht16Block x{};
          for (unsigned r = 0; r < 16; ++r)
            x[r] = code(((0xD7E8 >> r) ^ std::popcount(r & c)) & 1, field, bench_.rng().chance(0.2) ? 0 : mantissa);
          check(x);
        }
      }
    }
    // An exponent of one bit is the largest, in each element alone; what is just kept below it.
    for (std::size_t r = 0; r < 16; ++r) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        for (int i = 0; i < 4; ++i) {
          Rht16Block x{};
          const unsigned field = 1U << bit;
          for (std::uint16_t& element : x) {
            const unsigned below = NG_WINDOW + bench_.rng().below(2);
            element = code(random(1), field - std::min(field, std::max(below, 1U)), random(7) | 1);
          }
          x[r] = code(random(1), field, random(7));
          check(x);
        }
      }
    }
    // Three elements: two of one magnitude, which cancel in half of the results, and one below them.
    for (unsigned distance = 0; distance < 16 + NG_WINDOW && distance < 254; ++distance) {
      for (unsigned bit = 0; bit < 16; ++bit) {
        Rht16Block x{};
        const std::size_t r = bench_.rng().below(16), q = (r + 1 + bench_.rng().below(15)) % 16;
        const unsigned mantissa = random(7);
        const std::size_t s = bench_.rng().below(16);
        x[s] = code(random(1), 254 - distance, bit < 7 ? 1U << bit : 0);
        x[r] = code(random(1), 254, mantissa);
        x[q] = code(random(1), 254, mantissa);
        check(x);
      }
    }
    // The same near the least exponents, where what is left of the sum does not come up to the first place.
    for (unsigned top = 1; top < 32; ++top) {
      for (unsigned field = 0; field <= top; ++field) {
        for (int i = 0; i < 4; ++i) {
          Rht16Block x{};
          const std::size_t r = bench_.rng().below(16), q = (r + 1 + bench_.rng().below(15)) % 16;
          const unsigned mantissa = random(7);
          x[bench_.rng().below(16)] = code(random(1), field, random(1) ? random(7) : 1U << bench_.rng().below(7));
          x[r] = code(random(1), top, mantissa);
          x[q] = code(random(1), top, mantissa);
          check(x);
        }
      }
    }
    // Two elements, the second at every distance from the first, and of one bit: what is just kept, just lost.
    for (unsigned distance = 0; distance < 254; ++distance) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        Rht16Block x{};
        const std::size_t r = bench_.rng().below(16), s = (r + 1 + bench_.rng().below(15)) % 16;
        x[r] = code(bench_.rng().chance(0.5), 254, random(7));
        x[s] = code(bench_.rng().chance(0.5), 254 - distance, bit == 7 ? 0 : 1U << bit);
        check(x);
      }
    }
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) check(random_block(static_cast<unsigned>(i % 8)));
  }

  Rht16Block random_block(unsigned kind) {
    Rht16Block x{};
    // Near the smallest exponents, near the largest, or anywhere.
    const unsigned where = bench_.rng().below(4);
    const unsigned top = where == 0 ? random(4) : where == 1 ? 250 + bench_.rng().below(5) : bench_.rng().below(255);
    const unsigned spread = kind == 1   ? 0
                            : kind == 2 ? NG_WINDOW
                            : kind == 3 ? NG_WINDOW + 1
                            : kind == 4 ? NG_WINDOW + 9
                                        : 1 + bench_.rng().below(12);
    const unsigned same = random(16);
    for (std::uint16_t& element : x) {
      const unsigned below = bench_.rng().below(spread + 1);
      const unsigned field = top - std::min(top, below);
      switch (kind) {
        case 0:  // any finite numbers
          element = code(random(1), bench_.rng().below(255), random(7));
          break;
        case 5:  // few bits: ties
          element = code(random(1), field, random(2) << 5);
          break;
        case 6:  // few numbers: sums cancel
          element = bench_.rng().chance(0.6) ? code(random(1), top, 0x40) : code(random(1), field, random(7));
          break;
        case 7:  // one magnitude, but for some elements
          element = bench_.rng().chance(0.2) ? code(random(1), field, random(7)) : code(random(1), top, same & 0x7F);
          break;
        default:
          element = code(random(1), field, random(7));
      }
      if (bench_.rng().chance(0.02)) element = code(random(1), 0, random(1) ? random(7) : 0);
    }
    return x;
  }

 private:
  static std::uint16_t code(bool negative, unsigned field, unsigned mantissa) {
    return static_cast<std::uint16_t>((negative ? 0x8000U : 0U) | field << 7 | mantissa);
  }
  unsigned random(unsigned bits) { return static_cast<unsigned>(bench_.rng().bits(bits)); }

  Bench& bench_;
};

/// How a block is shown beside an error.
inline std::string show(const Rht16Block& x) {
  std::string text = "x";
  for (const std::uint16_t element : x) text += " " + hex(element);
  return text;
}

}  // namespace narrowgauge::bench
