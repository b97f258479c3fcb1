// SPDX-License-Identifier: Apache-2.0
// ng_amax against its golden model: the largest in every lane with neighbours one below it and equal to it, each bit
// alone, random blocks. Build parameters: NG_LANES, NG_WIDTH.
#include <array>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/amax.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "amax");
  Dut<Vdut> dut(bench);
  constexpr std::uint32_t largest = (1U << (NG_WIDTH - 1)) - 1;
  std::array<std::uint32_t, NG_LANES> codes{};
  const auto check = [&] {
    for (unsigned lane = 0; lane < NG_LANES; ++lane) set_bits(dut->a_i, NG_WIDTH * lane, NG_WIDTH, codes[lane]);
    dut.eval();
    bench.vector();
    bench.expect_eq("amax_o", static_cast<std::uint32_t>(dut->amax_o), narrowgauge::amax(codes, NG_WIDTH), [&] {
      std::string text = "codes";
      for (const std::uint32_t code : codes) text += " " + hex(code);
      return text;
    });
  };
  const auto sign = [&] { return bench.rng().bits(1) ? largest + 1 : 0; };

  for (unsigned lane = 0; lane < NG_LANES; ++lane) {
    codes.fill(0);
    for (unsigned bit = 0; bit < NG_WIDTH; ++bit) {  // the sign's bit too
      codes[lane] = 1U << bit;
      check();
    }
  }
  for (std::uint64_t i = 0; i < bench.budget(); ++i) {
    // Blocks of any numbers; blocks below a bound that one lane reaches, the others close to it or anywhere.
    const auto bound = static_cast<std::uint32_t>(bench.rng().bits(NG_WIDTH - 1));
    const unsigned kind = static_cast<unsigned>(i % 3);
    for (std::uint32_t& code : codes) {
      const auto any = static_cast<std::uint32_t>(bench.rng().bits(NG_WIDTH - 1));
      const std::uint32_t below = bound - std::min(bound, 1U << bench.rng().below(NG_WIDTH - 1));
      code = sign() | (kind == 0 ? any : kind == 1 ? below : std::min(any, bound));
    }
    if (kind != 0) codes[bench.rng().below(NG_LANES)] = sign() | bound;
    check();
  }
  return bench.finish();
}
