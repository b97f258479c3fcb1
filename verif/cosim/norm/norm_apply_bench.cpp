// SPDX-License-Identifier: Apache-2.0
// ng_norm_apply against its golden functions: every code under multipliers and offsets of single bits and at both ends;
// sums at midpoints of results and one beside, beyond both ends of INT8, of every magnitude; a half with one bit
// below it; random numbers. Build
// parameters: NG_LANES, NG_BF16, NG_FRAC_BITS, NG_CUTS.
#include <array>
#include <string>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/norm/norm_apply.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES, out_bits = NG_BF16 ? 16 : 8;
constexpr int most_offset = (1 << 23) - 1;
using Codes = std::array<std::int8_t, lanes>;

std::uint32_t expected_of(const NormFold& fold, int exponent, std::int8_t code) {
  if (NG_BF16) return norm_to_bf16(fold, exponent, code);
  return static_cast<std::uint8_t>(norm_to_int8(fold, NG_FRAC_BITS, code));
}

struct Tester {
  Bench& bench;
  Dut<Vdut>& dut;
  CutPipe<Vdut> pipe{bench, dut};

  void check(const NormFold& fold, int exponent, const Codes& codes) {
    dut->multiplier_i = static_cast<std::uint16_t>(fold.multiplier);
    dut->offset_i = static_cast<std::uint32_t>(fold.offset) & 0xFFFFFF;
    dut->exp_i = static_cast<std::uint8_t>(exponent) & 0x7F;
    for (unsigned i = 0; i < lanes; ++i) set_bits(dut->codes_i, 8 * i, 8, static_cast<std::uint8_t>(codes[i]));
    pipe([this, fold, exponent, codes] {
      for (unsigned i = 0; i < lanes; ++i) {
        bench.expect_eq("y_o", static_cast<std::uint32_t>(get_bits(dut->y_o, out_bits * i, out_bits)),
                        expected_of(fold, exponent, codes[i]), [&] {
                          return "lane " + std::to_string(i) + ": code " + std::to_string(codes[i]) + " times " +
                                 std::to_string(fold.multiplier) + " plus " + std::to_string(fold.offset) +
                                 ", exponent " + std::to_string(exponent);
                        });
      }
    });
  }

  int any_exponent() { return static_cast<int>(bench.rng().below(128)) - 64; }

  Codes any_codes() {
    Codes codes;
    for (std::int8_t& code : codes) code = static_cast<std::int8_t>(bench.rng().bits(8));
    return codes;
  }

  /// A number of at most `bits` bits and a sign, of any magnitude.
  int any_size(unsigned bits) {
    const auto size = static_cast<int>(bench.rng().bits(bits) >> bench.rng().below(bits));
    return bench.rng().bits(1) ? size : ~size;
  }

  void single_bits() {
    for (int code = -128; code < 128; ++code) {
      Codes codes = any_codes();
      codes[static_cast<unsigned>(code + 128) % lanes] = static_cast<std::int8_t>(code);
      for (const int multiplier : {-32768, -1, 0, 1, 32767, static_cast<int>(bench.rng().bits(16)) - 32768}) {
        for (const int offset : {-most_offset - 1, 0, most_offset}) {
          check({static_cast<std::int16_t>(multiplier), offset}, any_exponent(), codes);
        }
      }
      for (unsigned bit = 0; bit < 23; ++bit) {
        const int size = 1 << bit;
        check({static_cast<std::int16_t>(bit < 15 ? size : -size >> 8), bench.rng().bits(1) ? size : -size},
              any_exponent(), codes);
      }
    }
  }

  /// The sum is given, and code and multiplier are drawn: the offset follows.
  void sum(int wanted, unsigned lane) {
    const int multiplier = any_size(wanted < most_offset && wanted > -most_offset ? 8 : 15);
    Codes codes = any_codes();
    const int offset = wanted - codes[lane] * multiplier;
    if (offset < -most_offset - 1 || offset > most_offset) return;
    check({static_cast<std::int16_t>(multiplier), offset}, any_exponent(), codes);
  }
  void sum(int wanted) { sum(wanted, bench.rng().below(lanes)); }

  /// Sums at every midpoint between INT8 codes, and beyond both ends, and beside them.
  void midpoints() {
    const int half = 1 << (NG_FRAC_BITS - 1);
    for (int twice = -260; twice <= 260; ++twice) {
      for (const int beside : {-1, 0, 1}) sum(twice * half + beside);
    }
  }

  /// Sums of every magnitude: eight bits, a half or what is beside it, or none.
  void halves() {
    for (int bits = 0; bits < 24; ++bits) {
      for (int i = 0; i < 20; ++i) {
        const int top = (1 << bits) | static_cast<int>(bench.rng().bits(8) << bits >> 8);
        const int half = bits >= 8 ? 1 << (bits - 8) : 0;
        const int kept = half > 0 ? top & -(2 * half) : top;
        const int size = kept + half + static_cast<int>(bench.rng().below(3)) - 1;
        sum(bench.rng().bits(1) ? size : -size);
      }
    }
    for (int i = 0; i < 20; ++i) sum(0), sum(most_offset), sum((1 << 23) + (1 << 22) - 1), sum(-(1 << 23) - (1 << 22));
  }

  /// Eight bits whose last is 0, a half, and one bit below it, which alone decides; and without the bit.
  void halves_and_a_bit() {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (int bits = 8; bits < 23; ++bits) {
        for (int below = -1; below < bits - 8; ++below) {
          const int kept = (128 | static_cast<int>(bench.rng().bits(7))) & ~1;
          const int size = (2 * kept + 1) << (bits - 8) | (below < 0 ? 0 : 1 << below);
          sum(bench.rng().bits(1) ? size : -size, lane);
        }
      }
    }
  }

  void random() { check({static_cast<std::int16_t>(any_size(15)), any_size(23)}, any_exponent(), any_codes()); }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "norm_apply");
  Dut<Vdut> dut(bench);
  Tester test{bench, dut};
  test.single_bits();
  test.midpoints();
  test.halves();
  for (int i = 0; i < 3; ++i) test.halves_and_a_bit();
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i % 2 == 0)
      test.random();
    else
      test.sum(test.any_size(NG_BF16 ? 24 : NG_FRAC_BITS + 7));
  }
  test.pipe.drain();
  return bench.finish();
}
