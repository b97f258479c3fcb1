// SPDX-License-Identifier: Apache-2.0
// ng_mvue_1_2 against its golden model: all pairs of small numbers with all random words, moments summed from the
// unit's outputs; random pairs with random words and those about which the choice changes. Build parameters: NG_WIDTH,
// NG_RAND_BITS.
#include <algorithm>
#include <array>
#include <bit>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/mvue.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "mvue_1_2");
  Dut<Vdut> dut(bench);
  Rng& rng = bench.rng();
  constexpr std::uint64_t sign = std::uint64_t{1} << (NG_WIDTH - 1);
  constexpr std::uint64_t last = (std::uint64_t{1} << NG_RAND_BITS) - 1;
  /// Compares, and returns the element that stays.
  const auto check = [&](std::array<std::uint64_t, 2> a, std::uint64_t word) {
    for (unsigned i = 0; i < 2; ++i) set_bits(dut->a_i, NG_WIDTH * i, NG_WIDTH, a[i]);
    set_bits(dut->rand_i, 0, NG_RAND_BITS, word);
    dut.eval();
    bench.vector();
    const std::array<std::uint64_t, 2> magnitudes{a[0] & (sign - 1), a[1] & (sign - 1)};
    const Mvue12 drawn = mvue_1_2(magnitudes, static_cast<std::uint32_t>(word), NG_RAND_BITS);
    const auto inputs = [&] { return "a_i = " + hex(a[0]) + ", " + hex(a[1]) + ", rand_i = " + hex(word); };
    const bool negative = (a[static_cast<std::size_t>(drawn.index)] & sign) != 0;
    bench.expect_eq("value_o", get_bits(dut->value_o, 0, NG_WIDTH + 1), drawn.magnitude | (negative ? sign << 1 : 0),
                    inputs);
    bench.expect_eq("metadata_o", std::uint64_t{dut->metadata_o}, std::uint64_t{drawn.index == 0 ? 0b0100U : 0b1110U},
                    inputs);
    return get_bits(dut->metadata_o, 3, 1);
  };

  constexpr unsigned few = std::min(3, NG_WIDTH - 1);  // bits of a magnitude
  if constexpr (NG_RAND_BITS <= 8) {
    for (std::uint64_t pair = 0; pair < 1U << (2 * few); ++pair) {
      const std::array<std::uint64_t, 2> a{pair & ((1U << few) - 1), pair >> few};
      const std::uint64_t sum = a[0] + a[1];
      std::uint64_t seconds = 0;
      for (std::uint64_t word = 0; word <= last; ++word) seconds += check({a[0] ^ sign, a[1]}, word);
      if (sum == 0) continue;
      const auto inputs = [&] { return "a_i = " + hex(a[0]) + ", " + hex(a[1]) + ", all random words"; };
      const std::uint64_t ideal = a[1] * (last + 1), got = seconds * sum;
      bench.expect(got + sum >= ideal && got <= ideal + sum,
                   [&] { return "biased by more than 2^-r for " + inputs(); });
      // With a share that r bits hold, the expectation is exact, and then the variance, too: sum^2 for every word.
      if (std::has_single_bit(sum) && sum <= last + 1) bench.expect_eq("expectation of a_1", got, ideal, inputs);
    }
  }
  for (std::uint64_t n = 0; n < bench.budget(); ++n) {
    std::array<std::uint64_t, 2> a;
    for (std::uint64_t& x : a)
      x = rng.bits(NG_WIDTH) &
          (rng.bits(1) ? ~std::uint64_t{0} : sign | ((std::uint64_t{1} << rng.below(NG_WIDTH)) - 1));
    // The words about which the choice changes; the ends.
    const std::uint64_t first = a[0] & (sign - 1), sum = first + (a[1] & (sign - 1));
    const auto change =
        sum == 0 ? 0 : static_cast<std::uint64_t>((static_cast<unsigned __int128>(first) << NG_RAND_BITS) / sum);
    std::uint64_t word = rng.bits(NG_RAND_BITS);
    if (n % 4 == 1) word = std::min(change + rng.bits(1), last);
    if (n % 4 == 2) word = std::min(change - std::min<std::uint64_t>(change, rng.bits(1)), last);
    if (n % 4 == 3 && rng.bits(2) == 0) word = rng.bits(1) ? last : 0;
    check(a, word);
  }
  return bench.finish();
}
