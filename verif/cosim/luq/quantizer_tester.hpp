// SPDX-License-Identifier: Apache-2.0
// What the benches of LUQ's stochastic quantizers share: ports, random words, and the numbers that any of them meets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/luq/quantize_luq.hpp"

namespace narrowgauge::bench {

/// Any BF16 code; a quarter infinities, or NaNs with one bit.
inline std::uint16_t any_or_special(Rng& rng, std::uint16_t sign) {
  const auto code = static_cast<std::uint16_t>(rng.bits(16));
  if (rng.bits(2) != 0) return code;
  return static_cast<std::uint16_t>(sign | 0x7F80 | (1U << rng.below(8) & 0x7F));
}

/// Subnormal BF16 codes, zeros and specials.
inline std::uint16_t tiny_or_special(Rng& rng, std::uint16_t sign) {
  return static_cast<std::uint16_t>(rng.bits(rng.below(8)) | sign |
                                    (rng.bits(3) == 0   ? 0x7F80U
                                     : rng.bits(2) == 0 ? 0x80U
                                                        : 0U));
}

template <unsigned lanes, unsigned code_bits, unsigned random_bits, int scale_bits>
struct QuantizerTester {
  static constexpr std::uint32_t words = std::uint32_t{1} << random_bits;
  using Numbers = std::array<std::uint16_t, lanes>;
  using Random = std::array<std::uint32_t, lanes>;
  using Codes = std::array<std::uint8_t, lanes>;

  Bench& bench;
  Dut<Vdut>& dut;
  CutPipe<Vdut> pipe{bench, dut};

  /// Applies the inputs and compares: `golden` gives the code of a number and a random word, `refused` says that the
  /// scale is none; `after` gets the codes.
  template <class Golden, class After>
  void check(const Numbers& x, std::uint32_t scale, bool refused, bool stochastic, const Random& random, Golden golden,
             After after) {
    bool special = refused;
    Codes expected;
    for (unsigned i = 0; i < lanes; ++i) {
      set_bits(dut->a_i, 16 * i, 16, x[i]);
      set_bits(dut->rand_i, random_bits * i, random_bits, random[i]);
      special |= is_special_bf16(x[i]);
      expected[i] = golden(x[i], random[i]);
    }
    set_bits(dut->scale_i, 0, scale_bits, scale);
    dut->stochastic_i = stochastic;
    pipe([this, x, scale, stochastic, random, expected, special, after] {
      Codes codes;
      for (unsigned i = 0; i < lanes; ++i) {
        codes[i] = static_cast<std::uint8_t>(get_bits(dut->codes_o, code_bits * i, code_bits));
        bench.expect_eq("codes_o, lane " + std::to_string(i), std::uint32_t{codes[i]}, std::uint32_t{expected[i]}, [&] {
          return "scale_i = " + hex(scale) + ", a_i = " + hex(x[i]) +
                 (stochastic ? ", rand_i = " + hex(random[i]) : ", nearest");
        });
      }
      bench.expect_eq("special_o", static_cast<bool>(dut->special_o), special,
                      [&] { return "scale_i = " + hex(scale) + ", a_i of lane 0 = " + hex(x[0]); });
      after(codes);
    });
  }

  Random any_random() {
    Random random;
    for (std::uint32_t& r : random) {  // often the ends: what must never go up, what goes up first
      r = static_cast<std::uint32_t>(bench.rng().bits(random_bits));
      if (bench.rng().bits(2) == 0) r = bench.rng().bits(1) ? words - 1 : 0;
    }
    return random;
  }

  /// The least random words that round up, or one less.
  template <class Golden>
  Random deciding_random(const Numbers& x, Golden golden) {
    Random random;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const std::uint8_t down = golden(x[lane], 0);
      std::uint32_t least = 0;
      for (int bit = random_bits - 1; bit >= 0; --bit)
        if (const std::uint32_t more = least | std::uint32_t{1} << bit; golden(x[lane], more) == down) least = more;
      random[lane] = std::min(least + static_cast<std::uint32_t>(bench.rng().bits(1)), words - 1);
    }
    return random;
  }
};

}  // namespace narrowgauge::bench
