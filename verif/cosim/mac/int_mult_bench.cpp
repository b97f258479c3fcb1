// SPDX-License-Identifier: Apache-2.0
// ng_int_mult against exact integers: all pairs of corner codes, then all pairs of codes where the budget allows, else
// random ones. Build parameters: NG_A_WIDTH, NG_B_WIDTH, NG_A_SIGNED, NG_B_SIGNED.
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/int_mac.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;
  constexpr IntFormat a_format{.width = NG_A_WIDTH, .is_signed = NG_A_SIGNED != 0};
  constexpr IntFormat b_format{.width = NG_B_WIDTH, .is_signed = NG_B_SIGNED != 0};
  constexpr unsigned product_width = a_format.width + b_format.width;

  Bench bench(argc, argv, "int_mult", 65'536);
  Dut<Vdut> dut(bench);
  const auto check = [&](std::uint32_t a, std::uint32_t b) {
    dut->a_i = a;
    dut->b_i = b;
    dut.eval();
    bench.vector();
    const auto expected = static_cast<std::uint64_t>(int_product(a_format, a, b_format, b));
    bench.expect_eq("product_o", get_bits(dut->product_o, 0, product_width), get_bits(expected, 0, product_width),
                    [&] { return "a_i = " + hex(a) + ", b_i = " + hex(b); });
  };

  const auto corners = [](const IntFormat& format) {
    const std::uint32_t top = std::uint32_t{1} << (format.width - 1), all = format.mask();
    std::vector<std::uint32_t> codes = {0, 1, all, all - 1, top, top - 1, top | 1, 0x5555 & all, 0xAAAA & all};
    for (int bit = 1; bit < format.width - 1; ++bit) codes.insert(codes.end(), {1U << bit, all ^ 1U << bit});
    for (std::uint32_t& code : codes) code &= all;
    return codes;
  };
  for (const std::uint32_t a : corners(a_format))
    for (const std::uint32_t b : corners(b_format)) check(a, b);

  constexpr std::uint64_t pairs = std::uint64_t{1} << product_width;
  if (bench.sweep_step("pairs of codes", pairs) == 1) {
    for (std::uint64_t x = 0; x < pairs; ++x)
      check(static_cast<std::uint32_t>(x) & a_format.mask(), static_cast<std::uint32_t>(x >> a_format.width));
  } else {
    for (std::uint64_t i = 0; i < bench.budget(); ++i)
      check(static_cast<std::uint32_t>(bench.rng().bits(a_format.width)),
            static_cast<std::uint32_t>(bench.rng().bits(b_format.width)));
  }
  return bench.finish();
}
