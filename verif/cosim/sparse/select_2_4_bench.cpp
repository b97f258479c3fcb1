// SPDX-License-Identifier: Apache-2.0
// ng_select_2_4 against the rule of the metadata: every nibble in every group beside legal ones, random nibbles, random
// elements. Build parameters: NG_GROUPS, NG_WIDTH.
#include <array>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/metadata.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "select_2_4");
  Dut<Vdut> dut(bench);
  Rng& rng = bench.rng();
  std::array<unsigned, NG_GROUPS> nibbles{};
  const auto any_legal = [&] {
    unsigned nibble = 0;
    while (!is_metadata(nibble)) nibble = static_cast<unsigned>(rng.bits(4));
    return nibble;
  };
  const auto check = [&] {
    bool illegal = false;
    for (unsigned group = 0; group < NG_GROUPS; ++group) {
      set_bits(dut->metadata_i, 4 * group, 4, nibbles[group]);
      illegal = illegal || !is_metadata(nibbles[group]);
    }
    std::array<std::uint64_t, 4 * NG_GROUPS> b;
    for (unsigned i = 0; i < b.size(); ++i) set_bits(dut->b_i, NG_WIDTH * i, NG_WIDTH, b[i] = rng.bits(NG_WIDTH));
    dut.eval();
    bench.vector();
    for (unsigned group = 0; group < NG_GROUPS; ++group) {
      const auto positions = selected_positions(nibbles[group]);
      for (unsigned i = 0; i < 2; ++i)
        bench.expect_eq("selected_o", get_bits(dut->selected_o, NG_WIDTH * (2 * group + i), NG_WIDTH),
                        b[4 * group + positions[i]],
                        [&] { return "group " + std::to_string(group) + ", metadata " + hex(nibbles[group]); });
    }
    bench.expect_eq("error_o", static_cast<bool>(dut->error_o), illegal, [&] { return "metadata " + hex(nibbles[0]); });
  };

  for (unsigned group = 0; group < NG_GROUPS; ++group)
    for (unsigned nibble = 0; nibble < 16; ++nibble)
      for (int again = 0; again < 4; ++again) {
        for (unsigned& other : nibbles) other = any_legal();
        nibbles[group] = nibble;
        check();
      }
  for (std::uint64_t n = 0; n < bench.budget(); ++n) {
    for (unsigned& nibble : nibbles) nibble = n % 4 == 0 ? static_cast<unsigned>(rng.bits(4)) : any_legal();
    check();
  }
  return bench.finish();
}
