// SPDX-License-Identifier: Apache-2.0
// ng_dot_e2m1 against the golden sum: all 256 pairs of codes in every lane, with the other lanes zero and random; all
// pairs of code pairs on even and odd lanes; all signs at the largest magnitudes; random codes. Build parameters:
// NG_LANES, NG_CUTS.
#include <array>
#include <bit>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/dot_nvfp4.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;
  static constexpr int lanes = NG_LANES;
  constexpr unsigned width = 9 + std::bit_width(unsigned{lanes}) - 1;

  Bench bench(argc, argv, "dot_e2m1", 10'000'000);
  Dut<Vdut> dut(bench);
  CutPipe<Vdut> pipe(bench, dut);
  std::array<std::uint8_t, lanes> a{}, b{};
  const auto check = [&] {
    for (int i = 0; i < lanes; ++i) {
      set_bits(dut->a_i, 4 * i, 4, a[i]);
      set_bits(dut->b_i, 4 * i, 4, b[i]);
    }
    pipe([&bench, &dut, a, b] {
      bench.expect_eq("dot_o", get_signed(dut->dot_o, 0, width), std::int64_t{e2m1_dot(a, b)}, [&] {
        std::string text = "lanes (a, b), 0 first:";
        for (int i = 0; i < lanes; ++i) text += " (" + hex(a[i]) + ", " + hex(b[i]) + ")";
        return text;
      });
    });
  };
  const auto randomize = [&](auto& codes) {
    for (int i = 0; i < lanes; i += 16) {
      std::uint64_t bits = bench.rng()();
      for (int j = i; j < std::min(i + 16, lanes); ++j, bits >>= 4) codes[j] = bits & 15;
    }
  };

  for (int lane = 0; lane < lanes; ++lane)
    for (unsigned pair = 0; pair < 256; ++pair) {
      a.fill(0);
      b.fill(0);
      a[lane] = pair >> 4;
      b[lane] = pair & 15;
      check();
      randomize(a);
      randomize(b);
      a[lane] = pair >> 4;
      b[lane] = pair & 15;
      check();
    }

  for (std::uint64_t x = 0, step = bench.sweep_step("code pairs on even x odd lanes", 1U << 16); x < 1U << 16;
       x += step) {
    for (int i = 0; i < lanes; ++i) {
      a[i] = x >> (i % 2 == 0 ? 12 : 4) & 15;
      b[i] = x >> (i % 2 == 0 ? 8 : 0) & 15;
    }
    check();
  }

  for (std::uint64_t x = 0, step = bench.sweep_step("signs of +-6 * 6", 1U << 16); x < 1U << 16; x += step) {
    for (int i = 0; i < lanes; ++i) {
      a[i] = 7 | (x >> (i % 16) & 1) << 3;
      b[i] = 7 | (i < 16 ? 0 : 8);
    }
    check();
  }

  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    randomize(a);
    randomize(b);
    check();
  }
  pipe.drain();
  return bench.finish();
}
