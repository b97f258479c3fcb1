// SPDX-License-Identifier: Apache-2.0
// ng_scale_nvfp4 against the golden product: corner dot products with all pairs of scales, then the whole input space,
// which is exhaustive from 75.5 million vectors on. The top bits of the scales, which are ignored, are random.
// Build parameter: NG_CUTS.
#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/dot_nvfp4.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;
  constexpr int limit = 2304;  // 16 lanes of 12 * 12
  constexpr std::uint64_t pairs = 1U << 14;

  Bench bench(argc, argv, "scale_nvfp4", 1'000'000);
  Dut<Vdut> dut(bench);
  CutPipe<Vdut> pipe(bench, dut);
  const auto check = [&](int dot, unsigned pair) {
    const std::uint64_t ignored = bench.rng().bits(2);
    const auto a_scale = static_cast<std::uint8_t>(pair >> 7 | (ignored & 1) << 7);
    const auto b_scale = static_cast<std::uint8_t>((pair & 127) | (ignored >> 1) << 7);
    set_bits(dut->dot_i, 0, 13, static_cast<std::uint64_t>(dot));
    dut->a_scale_i = a_scale;
    dut->b_scale_i = b_scale;
    pipe([&bench, &dut, dot, a_scale, b_scale] {
      const Nvfp4Term expected = nvfp4_scale(dot, a_scale, b_scale);
      const auto inputs = [&] {
        return "dot_i = " + dec(dot) + ", a_scale_i = " + hex(a_scale) + ", b_scale_i = " + hex(b_scale);
      };
      bench.expect_eq("term_o", get_signed(dut->term_o, 0, 48), expected.value, inputs);
      bench.expect_eq("nan_o", static_cast<bool>(dut->nan_o), expected.nan, inputs);
    });
  };

  for (const int dot : {-limit, -limit + 1, -1, 0, 1, 0x555, -0x556, limit - 1, limit})
    for (unsigned pair = 0; pair < pairs; ++pair) check(dot, pair);

  const std::uint64_t points = (2 * limit + 1) * pairs;
  for (std::uint64_t x = 0, step = bench.sweep_step("dot x scales", points); x < points; x += step)
    check(static_cast<int>(x / pairs) - limit, x % pairs);
  pipe.drain();
  return bench.finish();
}
