// SPDX-License-Identifier: Apache-2.0
// ng_fp8_lane against the golden product: all 2^16 pairs of codes in every pair of formats.
// Build parameters: NG_FORMAT_SET, NG_CUTS.
#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/dot_fp8.hpp"
#include "narrowgauge/quant/format_set.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;
  constexpr unsigned format_set = NG_FORMAT_SET;
  constexpr unsigned width = format_set == format_set::e4m3 ? 37 : 65;
  constexpr int lsb_exp = format_set == format_set::e4m3 ? fp8_lsb_exp_e4m3 : fp8_lsb_exp;

  Bench bench(argc, argv, "fp8_lane", 1U << 18);
  Dut<Vdut> dut(bench);
  CutPipe<Vdut> pipe(bench, dut);
  // The two lowest bits choose the formats: with one format in the set the ports must make no difference.
  const std::uint64_t points = std::uint64_t{1} << 18;
  for (std::uint64_t x = 0, step = bench.sweep_step("a x b x formats", points); x < points; x += step) {
    const auto port = [x](unsigned bit) { return static_cast<unsigned>(x >> bit & 1); };
    const auto format = [x](unsigned bit) {
      return format_set == format_set::e4m3 || (format_set == format_set::fp8 && (x >> bit & 1) == 0) ? Format::e4m3
                                                                                                      : Format::e5m2;
    };
    const auto a = static_cast<std::uint8_t>(x >> 10), b = static_cast<std::uint8_t>(x >> 2);
    dut->a_i = a;
    dut->b_i = b;
    dut->a_fmt_i = port(0);
    dut->b_fmt_i = port(1);
    pipe([&bench, &dut, a, b, format] {
      const Fp8Sum expected = fp8_product(a, b, format(0), format(1), lsb_exp);
      const auto inputs = [&] {
        return "a_i = " + hex(a) + " (" + std::string(desc(format(0)).name) + "), b_i = " + hex(b) + " (" +
               std::string(desc(format(1)).name) + ")";
      };
      const __int128 product = get_signed128(dut->term_o, 0, width) + dut->owed_o;
      bench.expect_eq("signed(term_o) + owed_o", product, expected.value, inputs);
      bench.expect_eq("nan_o", static_cast<bool>(dut->nan_o), expected.flags.nan, inputs);
      bench.expect_eq("pinf_o", static_cast<bool>(dut->pinf_o), expected.flags.pinf, inputs);
      bench.expect_eq("ninf_o", static_cast<bool>(dut->ninf_o), expected.flags.ninf, inputs);
    });
  }
  pipe.drain();
  return bench.finish();
}
