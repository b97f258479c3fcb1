// SPDX-License-Identifier: Apache-2.0
// ng_mvue_2_4 against its golden model: all blocks of small numbers with all random words, moments summed from the
// unit's outputs; random blocks in both regimes with random words and those about which the choice changes. Build
// parameters: NG_WIDTH, NG_RAND_BITS.
#include <algorithm>
#include <array>
#include <bit>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/mvue.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge;
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "mvue_2_4");
  Dut<Vdut> dut(bench);
  Rng& rng = bench.rng();
  constexpr std::uint64_t sign = std::uint64_t{1} << (NG_WIDTH - 1);
  constexpr std::uint64_t last = (std::uint64_t{1} << NG_RAND_BITS) - 1;
  struct Seen {
    std::array<std::uint64_t, 2> lane, twice;
  };
  const auto check = [&](const Magnitudes4& magnitudes, unsigned signs, std::uint64_t word) {
    for (unsigned i = 0; i < 4; ++i)
      set_bits(dut->a_i, NG_WIDTH * i, NG_WIDTH, magnitudes[i] | ((signs >> i & 1) != 0 ? sign : 0));
    set_bits(dut->rand_i, 0, NG_RAND_BITS, word);
    dut.eval();
    bench.vector();
    const Mvue24 drawn = mvue_2_4(magnitudes, static_cast<std::uint32_t>(word), NG_RAND_BITS);
    const auto inputs = [&] {
      std::string text = "magnitudes";
      for (const std::uint64_t x : magnitudes) text += " " + hex(x);
      return text + ", signs " + hex(signs) + ", rand_i = " + hex(word);
    };
    bench.expect_eq("metadata_o", get_bits(dut->metadata_o, 0, 4),
                    static_cast<std::uint64_t>(drawn.index[1] << 2 | drawn.index[0]), inputs);
    Seen seen;
    for (unsigned i = 0; i < 2; ++i) {
      const std::uint64_t value = get_bits(dut->values_o, (NG_WIDTH + 2) * i, NG_WIDTH + 2);
      const bool negative = (signs >> drawn.index[i] & 1) != 0;
      bench.expect_eq("values_o", value, drawn.twice_magnitude[i] | (negative ? sign << 2 : 0), inputs);
      seen.lane[i] = get_bits(dut->metadata_o, 2 * i, 2);
      seen.twice[i] = value & ((sign << 2) - 1);
    }
    return seen;
  };

  constexpr unsigned few = std::min(3, NG_WIDTH - 1);  // bits of a magnitude
  if constexpr (NG_RAND_BITS <= 6) {
    for (std::uint64_t code = 0; code < 1U << (4 * few); ++code) {
      Magnitudes4 a;
      for (unsigned i = 0; i < 4; ++i) a[i] = code >> (few * i) & ((1U << few) - 1);
      const std::uint64_t sum = a[0] + a[1] + a[2] + a[3], most = *std::max_element(a.begin(), a.end());
      const std::uint64_t rest = sum - most, whole = most < rest ? sum : rest;
      std::array<std::uint64_t, 4> total{};
      std::uint64_t squares = 0;
      for (std::uint64_t word = 0; word <= last; ++word) {
        const Seen seen = check(a, static_cast<unsigned>(code + word) & 15, word);
        for (unsigned i = 0; i < 2; ++i) {
          total[seen.lane[i]] += seen.twice[i];
          squares += seen.twice[i] * seen.twice[i];
        }
      }
      if (rest == 0) continue;
      const auto inputs = [&] { return "block " + hex(code) + ", all random words"; };
      const bool exact = std::has_single_bit(whole) && whole <= last + 1;
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint64_t ideal = 2 * a[i] * (last + 1), off = exact ? 0 : 2 * whole;  // a word more or less
        bench.expect(total[i] + off >= ideal && total[i] <= ideal + off,
                     [&] { return "element " + std::to_string(i) + " biased for " + inputs(); });
      }
      // Sum of a^2 and the least variance, S^2 / 2 - sum a^2 or T^2 - sum a^2 + M^2; in quarters.
      const std::uint64_t least = most < rest ? 2 * sum * sum : 4 * (most * most + rest * rest);
      bench.expect_eq("mean square", squares, least * (last + 1), inputs);
    }
  }
  for (std::uint64_t n = 0; n < bench.budget(); ++n) {
    Magnitudes4 a;
    const unsigned width = 1 + rng.below(NG_WIDTH - 1);
    for (std::uint64_t& x : a) x = rng.bits(rng.bits(1) ? width : 1 + rng.below(NG_WIDTH - 1));
    if (rng.bits(3) == 0) a[rng.below(4)] = 0;
    if (rng.bits(3) == 0) a[rng.below(4)] = a[rng.below(4)];
    const unsigned largest = rng.below(4);
    if (rng.bits(2) == 0) {  // about the boundary of the regimes
      a[largest] = 0;
      const std::uint64_t others = a[0] + a[1] + a[2] + a[3] + rng.below(3);
      a[largest] = std::min(others - std::min<std::uint64_t>(others, 1), sign - 1);
    }
    const std::uint64_t sum = a[0] + a[1] + a[2] + a[3], most = *std::max_element(a.begin(), a.end());
    const std::uint64_t rest = sum - most;
    std::uint64_t word = rng.bits(NG_RAND_BITS);
    if (n % 2 != 0 && rest != 0) {  // a point at the end of a part
      const std::size_t at = static_cast<std::size_t>(std::max_element(a.begin(), a.end()) - a.begin());
      const bool tilted = most >= rest;
      std::uint64_t end = 0;
      const unsigned count = 1 + rng.below(4);
      for (unsigned i = 0; i < count; ++i) end += tilted && i == at ? 0 : a[i];
      const std::uint64_t whole = tilted ? rest : sum;
      auto scaled = (static_cast<unsigned __int128>(end) << (NG_RAND_BITS + (tilted ? 0 : 1))) / whole;  // of u, or u/2
      if (scaled > last) scaled -= std::min<unsigned __int128>(scaled, last + 1);  // the upper of the two points
      word = std::min(static_cast<std::uint64_t>(scaled) + rng.below(3) -
                          std::min<std::uint64_t>(1, static_cast<std::uint64_t>(scaled)),
                      last);
    } else if (rng.bits(3) == 0) {
      word = rng.bits(1) ? last : 0;
    }
    check(a, static_cast<unsigned>(rng.bits(4)), word);
  }
  return bench.finish();
}
