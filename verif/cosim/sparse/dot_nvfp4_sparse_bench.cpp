// SPDX-License-Identifier: Apache-2.0
// ng_dot_nvfp4_sparse: the flag and the term against the golden term, and, where metadata are legal, against the dense
// product of the decompressed block. Every nibble in every group beside legal ones; the largest sums with all pairs of
// exponents of the scales; random blocks with random scales. Build parameters: NG_PAIRS, NG_CUTS.
#include <array>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/dot_nvfp4_sparse.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr bool pairs = NG_PAIRS != 0;
constexpr unsigned unit = pairs ? 2 : 1, groups = 8 / unit;

struct Block {
  std::array<std::uint8_t, 16> a{};
  std::array<std::uint8_t, 32> b{};
  std::uint32_t metadata = 0;
  std::uint8_t a_scale = 0, b_scale = 0;
};

/// Sum over all 32 positions, of the block with zeros where nothing is stored.
int dense_dot(const Block& x) {
  std::array<std::uint8_t, 32> a{};
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned i = 0; i < 2 * unit; ++i)
      a[4 * unit * group + (x.metadata >> (4 * group + 2 * (i / unit)) & 3) * unit + i % unit] =
          x.a[2 * unit * group + i];
  return e2m1_dot(a, x.b);
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "dot_nvfp4_sparse");
  Dut<Vdut> dut(bench);
  CutPipe<Vdut> pipe(bench, dut);
  Rng& rng = bench.rng();
  const auto check = [&](const Block& x) {
    for (unsigned i = 0; i < 16; ++i) set_bits(dut->a_i, 4 * i, 4, x.a[i]);
    for (unsigned i = 0; i < 32; ++i) set_bits(dut->b_i, 4 * i, 4, x.b[i]);
    set_bits(dut->metadata_i, 0, 4 * groups, x.metadata);
    dut->a_scale_i = x.a_scale;
    dut->b_scale_i = x.b_scale;
    pipe([&bench, &dut, x] {
      const SparseNvfp4Term expected = nvfp4_sparse_term(x.a, x.metadata, x.b, x.a_scale, x.b_scale, pairs);
      const auto inputs = [&] {
        return "metadata_i = " + hex(x.metadata) + ", a_scale_i = " + hex(x.a_scale) +
               ", b_scale_i = " + hex(x.b_scale);
      };
      bench.expect_eq("error_o", static_cast<bool>(dut->error_o), expected.error, inputs);
      bench.expect_eq("nan_o", static_cast<bool>(dut->nan_o), expected.term.nan, inputs);
      bench.expect_eq("term_o", get_signed(dut->term_o, 0, 48), expected.term.value, inputs);
      if (!expected.error)
        bench.expect_eq("term_o beside the dense product", get_signed(dut->term_o, 0, 48),
                        nvfp4_scale(dense_dot(x), x.a_scale, x.b_scale).value, inputs);
    });
  };
  const auto any_legal = [&] {
    unsigned nibble = 0;
    while (!is_metadata(nibble)) nibble = static_cast<unsigned>(rng.bits(4));
    return nibble;
  };
  const auto any = [&](bool legal) {
    Block x;
    for (std::uint8_t& code : x.a) code = static_cast<std::uint8_t>(rng.bits(4));
    for (std::uint8_t& code : x.b) code = static_cast<std::uint8_t>(rng.bits(4));
    for (unsigned group = 0; group < groups; ++group)
      x.metadata |= (legal ? any_legal() : static_cast<unsigned>(rng.bits(4))) << (4 * group);
    x.a_scale = static_cast<std::uint8_t>(rng.bits(8));
    x.b_scale = static_cast<std::uint8_t>(rng.bits(8));
    return x;
  };

  for (unsigned group = 0; group < groups; ++group)
    for (unsigned nibble = 0; nibble < 16; ++nibble)
      for (int again = 0; again < 8; ++again) {
        Block x = any(true);
        x.metadata = (x.metadata & ~(15U << (4 * group))) | nibble << (4 * group);
        check(x);
      }
  for (unsigned scales = 0; scales < 1U << 16; ++scales) {
    Block x = any(true);
    x.a.fill(7);
    x.b.fill(scales & 1 ? 15 : 7);
    x.a_scale = static_cast<std::uint8_t>(scales >> 8);
    x.b_scale = static_cast<std::uint8_t>(scales);
    check(x);
  }
  for (std::uint64_t n = 0; n < bench.budget(); ++n) check(any(n % 8 != 0));
  pipe.drain();
  return bench.finish();
}
