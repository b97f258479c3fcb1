// SPDX-License-Identifier: Apache-2.0
// ng_mul_luq_standard against its golden model: all 256 pairs of codes.
#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/luq/mul_luq.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "mul_luq_standard");
  Dut<Vdut> dut(bench);
  for (unsigned pair = 0; pair < 256; ++pair) {
    const unsigned a = pair >> 4, b = pair & 15;
    dut->a_i = static_cast<std::uint8_t>(a);
    dut->b_i = static_cast<std::uint8_t>(b);
    dut.eval();
    bench.vector();
    bench.expect_eq("product_o", std::uint32_t{dut->product_o}, std::uint32_t{luq_product_standard(a, b)},
                    [&] { return "a_i = " + hex(a) + ", b_i = " + hex(b); });
  }
  return bench.finish();
}
