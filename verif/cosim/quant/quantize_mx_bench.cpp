// SPDX-License-Identifier: Apache-2.0
// ng_quantize_mx against its golden model: every BF16 number of the binades that count under each of 1024 largest
// magnitudes, to nearest and with random bits; all random bits for each place in an interval; every largest magnitude;
// random blocks of any numbers, of one size, with ties, subnormal ones, NaN and infinity. Build parameters:
// NG_FORMAT_SET, NG_RCEIL, NG_CUTS.
#include <array>
#include <bit>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/quantize_mx.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;
using Block = std::array<std::uint16_t, 32>;
using Random = std::array<std::uint8_t, 32>;

constexpr std::uint32_t finite_codes = 0x7F80;  // of BF16 without sign
constexpr unsigned formats = NG_FORMAT_SET;
constexpr unsigned bits = formats == 0 ? 4 : 8;
// From the largest number down to what eight random bits cannot round up: 2 + 1 + 9, 8 + 9 + 9, 15 + 16 + 9, and two.
constexpr unsigned binades = formats == 0 ? 14 : formats == format_set::e4m3 ? 28 : 42;

Format format(bool port) {
  if (formats == 0) return Format::e2m1;
  return formats == format_set::e4m3 || (formats == format_set::fp8 && !port) ? Format::e4m3 : Format::e5m2;
}

struct Tester {
  Bench& bench;
  Dut<Vdut>& dut;
  CutPipe<Vdut> pipe{bench, dut};

  void check(const Block& x, bool stochastic, const Random& random) {
    for (unsigned i = 0; i < 32; ++i) {
      set_bits(dut->a_i, 16 * i, 16, x[i]);
      set_bits(dut->rand_i, 8 * i, 8, random[i]);
    }
    dut->stochastic_i = stochastic;
    const bool fmt = bench.rng().bits(1);
    dut->fmt_i = fmt;
    const MxBlock expected = quantize_mx(x, format(fmt), NG_RCEIL, stochastic, random);
    std::array<std::uint64_t, bits / 2> codes{};
    for (unsigned i = 0; i < 32; ++i) codes[i * bits / 64] |= std::uint64_t{expected.codes[i]} << bits * i % 64;
    pipe([this, x, fmt, stochastic, random, codes, scale = expected.scale] {
      const auto inputs = [&] {
        std::string text(desc(format(fmt)).name);
        text += stochastic ? ", stochastic, a_i and rand_i =" : ", nearest, a_i =";
        for (unsigned i = 0; i < 32; ++i) text += " " + hex(x[i]) + (stochastic ? ":" + hex(random[i]) : "");
        return text;
      };
      bench.expect_eq("scale_o", static_cast<std::uint32_t>(dut->scale_o), std::uint32_t{scale}, inputs);
      for (unsigned part = 0; part < codes.size(); ++part)
        bench.expect_eq("codes_o", get_bits(dut->codes_o, 64 * part, 64), codes[part], inputs);
    });
  }

  std::uint16_t sign() { return static_cast<std::uint16_t>(bench.rng().bits(1) << 15); }

  Random any_random() {
    Random random;
    // Often the ends: what must never go up, what goes up first.
    for (std::uint8_t& r : random)
      r = bench.rng().bits(2) == 0 ? static_cast<std::uint8_t>(bench.rng().bits(1) * 255)
                                   : static_cast<std::uint8_t>(bench.rng().bits(8));
    return random;
  }

  /// Numbers from some binades below to the largest, 31 a block.
  void elements(std::uint32_t amax, std::uint64_t step) {
    const std::uint32_t least = amax - std::min(amax, binades << 7);
    for (std::uint32_t first = least; first <= amax; first += static_cast<std::uint32_t>(31 * step)) {
      Block x;
      const unsigned lane = bench.rng().below(32);
      for (unsigned i = 0; i < 32; ++i)
        x[i] = static_cast<std::uint16_t>(std::min(first + i - (i > lane), amax) | sign());
      x[lane] = static_cast<std::uint16_t>(amax | sign());
      check(x, false, any_random());
      check(x, true, any_random());
    }
  }

  /// Each significand in each binade that counts, with all random bits.
  void all_random(std::uint64_t step) {
    for (std::uint32_t point = 0; point < 256U * (binades - 2) * 128 / 32; point += static_cast<std::uint32_t>(step)) {
      Block x;
      Random random;
      for (unsigned i = 0; i < 32; ++i) {
        const std::uint32_t index = point * 32 + (i * 37 + point) % 32;
        random[i] = static_cast<std::uint8_t>(index);
        x[i] = static_cast<std::uint16_t>((0x4000 - ((binades - 3) << 7) + (index >> 8)) | sign());
      }
      x[point % 32] = 0x407F;
      check(x, true, random);
    }
  }

  void random_block(std::uint64_t i) {
    auto& rng = bench.rng();
    Block x;
    switch (i / 2 % 5) {
      case 0:
        for (std::uint16_t& code : x) code = static_cast<std::uint16_t>(rng.below(finite_codes) | sign());
        if (rng.chance(0.1)) x[rng.below(32)] = static_cast<std::uint16_t>(0x7F80 | rng.bits(16));
        break;
      case 1: {  // of one size
        const std::uint32_t most = rng.below(finite_codes);
        for (std::uint16_t& code : x)
          code = static_cast<std::uint16_t>((most - std::min(most, rng.below(1U << (8 + rng.below(4))))) | sign());
        break;
      }
      case 2: {  // few bits: ties
        const std::uint32_t most = rng.below(255) << 7;
        for (std::uint16_t& code : x) {
          const std::uint32_t lower = rng.below(binades) << 7;
          code = static_cast<std::uint16_t>((most - std::min(most, lower)) | (rng.bits(3) << 4) | sign());
        }
        break;
      }
      case 3: {  // one bit each, subnormal ones among them, under the smallest scales (found 2026-11-22 by injected
                 // faults)
        for (std::uint16_t& code : x) code = static_cast<std::uint16_t>((1U << rng.below(9)) | sign());
        x[rng.below(32)] = static_cast<std::uint16_t>(rng.below(8) << 7 | sign());
        break;
      }
      default: {  // small ones, zeros, one special
        const std::uint32_t most = 1 + rng.below(1U << (1 + rng.below(11)));
        for (std::uint16_t& code : x)
          code = static_cast<std::uint16_t>((rng.bits(2) == 0 ? 0 : rng.below(most)) | sign());
        if (rng.chance(0.1))
          x[rng.below(32)] = static_cast<std::uint16_t>(0x7F80 | sign() | (rng.bits(1) << rng.below(7)));
      }
    }
    check(x, i % 2 != 0, any_random());
  }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "quantize_mx");
  Dut<Vdut> dut(bench);
  Tester test{bench, dut};

  std::uint64_t step = bench.sweep_step("numbers under 1024 largest magnitudes", 1024ULL * 2 * binades * 128 / 31);
  for (std::uint32_t m = 0; m < 128; ++m)
    for (const std::uint32_t field : {0U, 1U, 2U, 3U, 7U, 16U, 128U, 254U}) test.elements(field << 7 | m, step);
  step = bench.sweep_step("significands x random bits", 256ULL * (binades - 2) * 128 / 32);
  test.all_random(step);
  step = bench.sweep_step("largest magnitudes", 0x8000);
  for (std::uint32_t amax = 0; amax < 0x8000; amax += static_cast<std::uint32_t>(step)) {
    Block x;
    for (std::uint16_t& code : x) code = static_cast<std::uint16_t>(bench.rng().below(amax + 1) | test.sign());
    x[amax / step % 32] = static_cast<std::uint16_t>(amax | test.sign());
    test.check(x, bench.rng().bits(1), test.any_random());
  }
  for (std::uint64_t i = 0; i < bench.budget(); ++i) test.random_block(i);
  test.pipe.drain();
  return bench.finish();
}
