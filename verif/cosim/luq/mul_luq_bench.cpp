// SPDX-License-Identifier: Apache-2.0
// ng_mul_luq against its golden model: all 256 pairs of codes. Build parameter: NG_SHAPE.
#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/luq/mul_luq.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "mul_luq");
  Dut<Vdut> dut(bench);
  for (unsigned pair = 0; pair < 256; ++pair) {
    const unsigned a = pair >> 4, b = pair & 15;
    dut->a_i = static_cast<std::uint8_t>(a);
    dut->b_i = static_cast<std::uint8_t>(b);
    dut.eval();
    bench.vector();
    const auto inputs = [&] { return "a_i = " + hex(a) + ", b_i = " + hex(b); };
    if constexpr (NG_SHAPE == 0) {
      bench.expect_eq("product_o", get_signed(dut->product_o, 0, 11), std::int64_t{luq_product(a, b)}, inputs);
    } else {
      const std::uint8_t expected = NG_SHAPE == 1 ? luq_product_fp7(a, b) : luq_product_split(a, b);
      bench.expect_eq("product_o", std::uint32_t{dut->product_o}, std::uint32_t{expected}, inputs);
    }
  }
  return bench.finish();
}
