// SPDX-License-Identifier: Apache-2.0
// ng_transposable_2_4 against the golden enumeration: every block of one bit; each of the 90 masks as the best, alone
// and by one unit beside another; random blocks of wide and of few values. Build parameter: NG_WIDTH.
#include <array>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/nm_mask.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "transposable_2_4");
  Dut<Vdut> dut(bench);
  Rng& rng = bench.rng();
  constexpr std::uint64_t top = (std::uint64_t{1} << NG_WIDTH) - 1;
  std::array<std::uint64_t, 16> a{};
  const auto check = [&] {
    for (unsigned i = 0; i < 16; ++i) set_bits(dut->magnitudes_i, NG_WIDTH * i, NG_WIDTH, a[i]);
    dut.eval();
    bench.vector();
    bench.expect_eq("mask_o", static_cast<std::uint32_t>(dut->mask_o), std::uint32_t{transposable_mask_2_4(a)}, [&] {
      std::string text = "magnitudes";
      for (const std::uint64_t x : a) text += " " + hex(x);
      return text;
    });
  };

  for (const std::uint16_t mask : transposable_masks_2_4()) {
    for (const std::uint64_t value : {std::uint64_t{1}, top}) {
      for (unsigned i = 0; i < 16; ++i) a[i] = (mask >> i & 1) * value;
      check();
    }
  }
  const std::uint64_t step = bench.sweep_step("blocks of one bit", 1U << 16);
  for (std::uint64_t x = 0; x < 1U << 16; x += step) {
    const std::uint64_t high = rng.bits(1) ? top : 1;
    for (unsigned i = 0; i < 16; ++i) a[i] = (x >> i & 1) * high;
    check();
  }
  const auto masks = transposable_masks_2_4();
  for (std::uint64_t n = 0; n < bench.budget(); ++n) {
    if (n % 3 == 0) {
      for (std::uint64_t& x : a) x = rng.bits(NG_WIDTH);
    } else if (n % 3 == 1) {  // few values: ties
      const std::uint64_t low = rng.bits(NG_WIDTH);
      for (std::uint64_t& x : a) x = std::min(low + rng.below(3), top);
    } else {  // two masks with nearly the same sum, by a bit anywhere
      const std::uint16_t one = masks[rng.below(90)], other = masks[rng.below(90)];
      const std::uint64_t base = rng.bits(NG_WIDTH) / 2;
      for (unsigned i = 0; i < 16; ++i) a[i] = ((one | other) >> i & 1) != 0 ? top - base : base / 2;
      const unsigned at = rng.below(16);
      a[at] ^= std::uint64_t{1} << rng.below(NG_WIDTH);
    }
    check();
  }
  return bench.finish();
}
