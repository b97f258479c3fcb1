// SPDX-License-Identifier: Apache-2.0
// ng_fp_mac against the host's fma, step by step: random sums with bubbles, restarts and resets, of ordinary numbers
// and of any codes. Build parameter: NG_FORMAT (bf16, fp16, tf32, fp32).
#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/fp_mac.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;
  constexpr FormatDesc format = desc(Format::NG_FORMAT);

  Bench bench(argc, argv, "fp_mac", 200'000);
  Dut<Vdut> dut(bench);
  std::uint32_t sum = 0;
  const auto compare = [&](const auto& when) {
    bench.vector();
    bench.expect_eq("sum", dut->acc_o, sum, when);
  };
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    if (i == 0 || bench.rng().chance(0.001)) {
      dut.reset();
      sum = 0;
      compare([] { return std::string("reset"); });
    }
    const bool valid = bench.rng().chance(0.7), any_code = i / 512 % 4 == 3;
    const bool first = bench.rng().chance(any_code ? 0.5 : 0.05);
    // Ordinary: between 1/16 and 16, so that sums grow, cancel and round; every fourth phase any code, NaNs and
    // infinities too.
    const auto code = [&] {
      if (any_code) {
        const auto any = static_cast<std::uint32_t>(bench.rng().bits(format.bits));
        const std::uint32_t kinds[] = {format.sign_mask(), format.sign_mask() | format.inf_code()};  // zeros, powers
        if (bench.rng().chance(0.5)) return any;
        if (bench.rng().chance(0.5)) {  // next to overflow, after next to nothing
          const auto exponent =
              static_cast<std::uint32_t>(first ? format.bias / 2 : format.bias / 2 * 3 + 1) + bench.rng().below(4);
          return (any & ~format.inf_code()) | exponent << format.man_bits;
        }
        if (bench.rng().bits(1)) return any & kinds[bench.rng().bits(1)];
        // Infinity; half the time a lone bit makes it a NaN, or is all there is of a subnormal number.
        const std::uint32_t lone = bench.rng().bits(1) << bench.rng().below(static_cast<unsigned>(format.man_bits));
        return (any & format.sign_mask()) | (lone && bench.rng().bits(1) ? 0 : format.inf_code()) | lone;
      }
      return static_cast<std::uint32_t>(
          (static_cast<unsigned>(format.bias) - 4 + bench.rng().below(8)) << format.man_bits |
          bench.rng().bits(format.man_bits) | (bench.rng().bits(1) ? format.sign_mask() : 0));
    };
    const std::uint32_t a = code(), b = code(), before = sum;
    dut->valid_i = valid;
    dut->first_i = first;
    dut->a_i = a;
    dut->b_i = b;
    dut.tick();
    if (valid) sum = fma_fp32(format, a, b, first ? 0 : sum);
    compare([&] {
      return "a " + hex(a) + " b " + hex(b) + (valid ? " valid" : "") + (first ? " first" : "") + ", sum before " +
             hex(before);
    });
  }
  return bench.finish();
}
