// SPDX-License-Identifier: Apache-2.0
// ng_dot_luq_sparse: the flag and the dot product against the golden ones, and, where metadata are legal, against the
// dense product of the decompressed vector. Every nibble in every group beside legal ones; all pairs of codes in every
// lane; the ends of the range; random codes. Build parameters: NG_LANES, NG_SPARSE_FP4, NG_CUTS.
#include <array>
#include <bit>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/select.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES, groups = lanes / 2;
constexpr bool sparse_fp4 = NG_SPARSE_FP4 != 0;
constexpr unsigned width = 11 + std::bit_width(lanes) - 1;

struct Vectors {
  std::array<std::uint8_t, lanes> stored{};
  std::array<std::uint8_t, groups> nibbles{};
  std::array<std::uint8_t, 2 * lanes> dense{};
};

/// Over all positions, of the vector with zeros where nothing is stored.
int dense_dot(const Vectors& x) {
  std::array<std::uint8_t, 2 * lanes> sparse{};
  for (unsigned i = 0; i < lanes; ++i) sparse[4 * (i / 2) + (x.nibbles[i / 2] >> (2 * (i % 2)) & 3)] = x.stored[i];
  return sparse_fp4 ? luq_dot(x.dense, sparse) : luq_dot(sparse, x.dense);
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "dot_luq_sparse");
  Dut<Vdut> dut(bench);
  CutPipe<Vdut> pipe(bench, dut);
  Rng& rng = bench.rng();
  const auto check = [&](const Vectors& x) {
    for (unsigned i = 0; i < lanes; ++i) set_bits(dut->stored_i, 4 * i, 4, x.stored[i]);
    for (unsigned i = 0; i < 2 * lanes; ++i) set_bits(dut->dense_i, 4 * i, 4, x.dense[i]);
    for (unsigned group = 0; group < groups; ++group) set_bits(dut->metadata_i, 4 * group, 4, x.nibbles[group]);
    pipe([&bench, &dut, x] {
      const SparseLuqDot expected = luq_dot_sparse(x.stored, x.nibbles, x.dense, sparse_fp4);
      const auto inputs = [&] {
        std::string text = "group 0 first: stored, metadata, dense";
        for (unsigned i = 0; i < lanes; ++i) {
          text += ' ' + hex(x.stored[i]);
          if (i % 2 == 0) continue;
          text += ", " + hex(x.nibbles[i / 2]) + ",";
          for (unsigned j = 0; j < 4; ++j) text += ' ' + hex(x.dense[4 * (i / 2) + j]);
        }
        return text;
      };
      bench.expect_eq("error_o", static_cast<bool>(dut->error_o), expected.error, inputs);
      bench.expect_eq("dot_o", get_signed(dut->dot_o, 0, width), std::int64_t{expected.dot}, inputs);
      if (!expected.error)
        bench.expect_eq("dot_o beside the dense product", get_signed(dut->dot_o, 0, width), std::int64_t{dense_dot(x)},
                        inputs);
    });
  };
  const auto any_legal = [&] {
    unsigned nibble = 0;
    while (!is_metadata(nibble)) nibble = static_cast<unsigned>(rng.bits(4));
    return static_cast<std::uint8_t>(nibble);
  };
  const auto any = [&](bool legal) {
    Vectors x;
    for (std::uint8_t& code : x.stored) code = static_cast<std::uint8_t>(rng.bits(4));
    for (std::uint8_t& code : x.dense) code = static_cast<std::uint8_t>(rng.bits(4));
    for (std::uint8_t& nibble : x.nibbles) nibble = legal ? any_legal() : static_cast<std::uint8_t>(rng.bits(4));
    return x;
  };

  for (unsigned group = 0; group < groups; ++group)
    for (unsigned nibble = 0; nibble < 16; ++nibble)
      for (int again = 0; again < 8; ++again) {
        Vectors x = any(true);
        x.nibbles[group] = static_cast<std::uint8_t>(nibble);
        check(x);
      }
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned pair = 0; pair < 256; ++pair) {
      Vectors x = any(true);
      x.stored[lane] = static_cast<std::uint8_t>(pair >> 4);
      for (unsigned i = 0; i < 4; ++i) x.dense[4 * (lane / 2) + i] = static_cast<std::uint8_t>(pair & 15);
      check(x);
    }
  for (const unsigned sign : {0U, 8U}) {  // all lanes alike: the ends of the range, -8 times +-64
    Vectors x = any(true);
    x.stored.fill(static_cast<std::uint8_t>(sparse_fp4 ? 7 | sign : 8));
    x.dense.fill(static_cast<std::uint8_t>(sparse_fp4 ? 8 : 7 | sign));
    check(x);
  }
  for (std::uint64_t n = 0; n < bench.budget(); ++n) check(any(n % 8 != 0));
  pipe.drain();
  return bench.finish();
}
