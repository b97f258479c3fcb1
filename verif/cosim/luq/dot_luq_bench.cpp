// SPDX-License-Identifier: Apache-2.0
// ng_dot_luq against the golden sum: all 256 pairs of codes in every lane, with the other lanes zero and random; all
// signs at the largest magnitudes; random codes. Build parameters: NG_LANES, NG_CUTS.
#include <algorithm>
#include <array>
#include <bit>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/luq/mul_luq.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;
  static constexpr int lanes = NG_LANES;
  constexpr unsigned width = 11 + std::bit_width(unsigned{lanes}) - 1;

  Bench bench(argc, argv, "dot_luq", 1'000'000);
  Dut<Vdut> dut(bench);
  CutPipe<Vdut> pipe(bench, dut);
  std::array<std::uint8_t, lanes> a{}, b{};
  const auto check = [&] {
    for (int i = 0; i < lanes; ++i) {
      set_bits(dut->a_i, 4 * i, 4, a[i]);
      set_bits(dut->b_i, 4 * i, 4, b[i]);
    }
    pipe([&bench, &dut, a, b] {
      bench.expect_eq("dot_o", get_signed(dut->dot_o, 0, width), std::int64_t{luq_dot(a, b)}, [&] {
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

  for (std::uint64_t x = 0, step = bench.sweep_step("signs of -8 * +-64", 1U << 16); x < 1U << 16; x += step) {
    for (int i = 0; i < lanes; ++i) {
      a[i] = i < 16 ? 8 : 7;
      b[i] = 7 | (x >> (i % 16) & 1) << 3;
    }
    check();
  }
  for (const std::uint8_t sign : {0, 8}) {  // all lanes alike: the ends of the range
    a.fill(8);
    b.fill(7 | sign);
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
