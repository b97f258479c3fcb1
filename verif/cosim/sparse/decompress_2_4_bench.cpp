// SPDX-License-Identifier: Apache-2.0
// ng_decompress_2_4 against the rule of the metadata: every nibble in every group beside legal ones, random nibbles,
// random values. Build parameters: NG_GROUPS, NG_WIDTH.
#include <array>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/metadata.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "decompress_2_4");
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
    std::array<std::uint64_t, 2 * NG_GROUPS> values;
    for (unsigned i = 0; i < values.size(); ++i)
      set_bits(dut->values_i, NG_WIDTH * i, NG_WIDTH, values[i] = rng.bits(NG_WIDTH));
    dut.eval();
    bench.vector();
    for (unsigned group = 0; group < NG_GROUPS; ++group) {
      const unsigned nibble = nibbles[group];
      const auto inputs = [&] { return "group " + std::to_string(group) + ", metadata " + hex(nibble); };
      for (unsigned i = 0; i < 4; ++i) {
        std::uint64_t expected = 0;
        if (is_metadata(nibble))
          expected = (nibble & 3) == i ? values[2 * group] : nibble >> 2 == i ? values[2 * group + 1] : 0;
        bench.expect_eq("a_o", get_bits(dut->a_o, NG_WIDTH * (4 * group + i), NG_WIDTH), expected, inputs);
      }
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
