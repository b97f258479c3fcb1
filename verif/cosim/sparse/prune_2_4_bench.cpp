// SPDX-License-Identifier: Apache-2.0
// ng_prune_2_4 against its golden model: four codes of few bits exhaustively, random groups with magnitudes that are
// equal or differ by one bit. Build parameters: NG_GROUPS, NG_WIDTH.
#include <array>
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/metadata.hpp"
#include "narrowgauge/sparse/nm_mask.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "prune_2_4");
  Dut<Vdut> dut(bench);
  constexpr std::uint64_t codes = std::uint64_t{1} << NG_WIDTH;
  std::array<std::uint64_t, 4 * NG_GROUPS> a{};
  const auto check = [&] {
    for (unsigned i = 0; i < a.size(); ++i) set_bits(dut->a_i, NG_WIDTH * i, NG_WIDTH, a[i]);
    dut.eval();
    bench.vector();
    for (unsigned group = 0; group < NG_GROUPS; ++group) {
      const auto inputs = [&] {
        std::string text = "group " + std::to_string(group) + ":";
        for (unsigned i = 0; i < 4; ++i) text += " " + hex(a[4 * group + i]);
        return text;
      };
      std::array<std::uint64_t, 4> magnitudes;
      for (unsigned i = 0; i < 4; ++i) magnitudes[i] = a[4 * group + i] & (codes / 2 - 1);
      const unsigned nibble = narrowgauge::metadata_of(static_cast<unsigned>(narrowgauge::greedy_mask(magnitudes, 2)));
      bench.expect_eq("metadata_o", get_bits(dut->metadata_o, 4 * group, 4), std::uint64_t{nibble}, inputs);
      for (unsigned i = 0; i < 2; ++i)
        bench.expect_eq("values_o", get_bits(dut->values_o, NG_WIDTH * (2 * group + i), NG_WIDTH),
                        a[4 * group + (nibble >> (2 * i) & 3)], inputs);
    }
  };
  Rng& rng = bench.rng();

  constexpr unsigned few = NG_WIDTH < 4 ? NG_WIDTH : 4;  // bits
  const std::uint64_t step = bench.sweep_step("four codes of " + std::to_string(few) + " bits", 1U << (4 * few));
  for (std::uint64_t x = 0; x < 1U << (4 * few); x += step) {
    for (unsigned i = 0; i < a.size(); ++i) a[i] = (x >> ((i % 4) * few) & ((1U << few) - 1)) << (NG_WIDTH - few);
    check();
  }
  for (std::uint64_t n = 0; n < bench.budget(); ++n) {
    for (unsigned group = 0; group < NG_GROUPS; ++group) {
      const std::uint64_t common = rng.bits(NG_WIDTH);
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint64_t near = common ^ (std::uint64_t{1} << rng.below(NG_WIDTH));
        const std::uint64_t kind = rng.bits(2);
        a[4 * group + i] = (kind == 0 ? rng.bits(NG_WIDTH) : kind == 1 ? common : near) ^ (rng.bits(1) * codes / 2);
      }
    }
    check();
  }
  return bench.finish();
}
