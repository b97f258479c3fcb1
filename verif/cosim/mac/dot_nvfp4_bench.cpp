// SPDX-License-Identifier: Apache-2.0
// ng_dot_nvfp4 against the golden term: all pairs of scales with the largest sums, all pairs of codes in every lane,
// random blocks with random scales (one pair in 64 has a NaN). Build parameter: NG_CUTS.
#include <array>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/dot_nvfp4.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "dot_nvfp4", 10'000'000);
  Dut<Vdut> dut(bench);
  CutPipe<Vdut> pipe(bench, dut);
  const auto check = [&](std::uint64_t a, std::uint64_t b, std::uint8_t a_scale, std::uint8_t b_scale) {
    dut->a_i = a;
    dut->b_i = b;
    dut->a_scale_i = a_scale;
    dut->b_scale_i = b_scale;
    pipe([&bench, &dut, a, b, a_scale, b_scale] {
      std::array<std::uint8_t, 16> a_codes, b_codes;
      for (int i = 0; i < 16; ++i) {
        a_codes[i] = a >> (4 * i) & 15;
        b_codes[i] = b >> (4 * i) & 15;
      }
      const Nvfp4Term expected = nvfp4_term(a_codes, b_codes, a_scale, b_scale);
      const auto inputs = [&] {
        return "a_i = " + hex(a) + ", b_i = " + hex(b) + ", a_scale_i = " + hex(a_scale) +
               ", b_scale_i = " + hex(b_scale);
      };
      bench.expect_eq("term_o", get_signed(dut->term_o, 0, 48), expected.value, inputs);
      bench.expect_eq("nan_o", static_cast<bool>(dut->nan_o), expected.nan, inputs);
    });
  };

  constexpr std::uint64_t all_plus = 0x7777'7777'7777'7777, all_minus = 0xFFFF'FFFF'FFFF'FFFF;  // +6 and -6
  for (unsigned pair = 0; pair < 1U << 16; ++pair) {
    const auto a_scale = static_cast<std::uint8_t>(pair >> 8), b_scale = static_cast<std::uint8_t>(pair);
    check(all_plus, all_plus, a_scale, b_scale);
    check(all_plus, all_minus, a_scale, b_scale);
  }
  constexpr std::uint8_t one = 0x38;
  for (int lane = 0; lane < 16; ++lane)
    for (std::uint64_t pair = 0; pair < 256; ++pair)
      check((pair >> 4) << (4 * lane), (pair & 15) << (4 * lane), one, one);

  Rng& rng = bench.rng();
  for (std::uint64_t i = 0; i < bench.budget(); ++i)
    check(rng(), rng(), static_cast<std::uint8_t>(rng.bits(8)), static_cast<std::uint8_t>(rng.bits(8)));
  pipe.drain();
  return bench.finish();
}
