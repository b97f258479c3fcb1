// SPDX-License-Identifier: Apache-2.0
// ng_dot_fp8_sparse: flags and term against the golden ones, and, where metadata are legal, against the products at the
// positions that they name. Every nibble in every group beside legal ones; pairs of codes alike in all lanes; the
// largest sums; random codes, finite ones, and specials alone. Build parameters: NG_LANES, NG_FORMAT_SET, NG_CUTS.
#include <array>
#include <bit>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/sparse/select.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES, groups = lanes / 2;
constexpr unsigned format_set = NG_FORMAT_SET;
constexpr unsigned width = (format_set == format_set::e4m3 ? 37 : 65) + std::bit_width(lanes - 1);
constexpr int lsb_exp = format_set == format_set::e4m3 ? fp8_lsb_exp_e4m3 : fp8_lsb_exp;

struct Vectors {
  std::array<std::uint8_t, lanes> stored{};
  std::array<std::uint8_t, groups> nibbles{};
  std::array<std::uint8_t, 2 * lanes> dense{};
  unsigned formats = 0;  ///< bit 0: stored_fmt_i, bit 1: dense_fmt_i

  static Format format(bool port) {
    return format_set == format_set::e4m3 || (format_set == format_set::fp8 && !port) ? Format::e4m3 : Format::e5m2;
  }
  Format stored_format() const { return format((formats & 1) != 0); }
  Format dense_format() const { return format((formats & 2) != 0); }
};

/// Over the positions that hold something; elsewhere a dense product would have zeros, of which infinity makes NaNs.
Fp8Sum named_dot(const Vectors& x) {
  Fp8Sum sum;
  for (unsigned i = 0; i < lanes; ++i) {
    const unsigned position = x.nibbles[i / 2] >> (2 * (i % 2)) & 3;
    const Fp8Sum product =
        fp8_product(x.stored[i], x.dense[4 * (i / 2) + position], x.stored_format(), x.dense_format(), lsb_exp);
    sum.value += product.value;
    sum.flags |= product.flags;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv, "dot_fp8_sparse");
  Dut<Vdut> dut(bench);
  CutPipe<Vdut> pipe(bench, dut);
  Rng& rng = bench.rng();
  const auto check = [&](const Vectors& x) {
    for (unsigned i = 0; i < lanes; ++i) set_bits(dut->stored_i, 8 * i, 8, x.stored[i]);
    for (unsigned i = 0; i < 2 * lanes; ++i) set_bits(dut->dense_i, 8 * i, 8, x.dense[i]);
    for (unsigned group = 0; group < groups; ++group) set_bits(dut->metadata_i, 4 * group, 4, x.nibbles[group]);
    dut->stored_fmt_i = x.formats & 1;
    dut->dense_fmt_i = x.formats >> 1;
    pipe([&bench, &dut, x] {
      const SparseFp8Sum expected =
          dot_fp8_sparse(x.stored, x.nibbles, x.dense, x.stored_format(), x.dense_format(), lsb_exp);
      const auto inputs = [&] {
        std::string text = "formats " + hex(x.formats) + ", group 0 first: stored, metadata, dense";
        for (unsigned i = 0; i < lanes; ++i) {
          text += ' ' + hex(x.stored[i]);
          if (i % 2 == 0) continue;
          text += ", " + hex(x.nibbles[i / 2]) + ",";
          for (unsigned j = 0; j < 4; ++j) text += ' ' + hex(x.dense[4 * (i / 2) + j]);
        }
        return text;
      };
      const auto compare = [&](const char* term, const Fp8Sum& sum) {
        bench.expect_eq(term, get_signed128(dut->term_o, 0, width), sum.value, inputs);
        bench.expect_eq("nan_o", static_cast<bool>(dut->nan_o), sum.flags.nan, inputs);
        bench.expect_eq("pinf_o", static_cast<bool>(dut->pinf_o), sum.flags.pinf, inputs);
        bench.expect_eq("ninf_o", static_cast<bool>(dut->ninf_o), sum.flags.ninf, inputs);
      };
      bench.expect_eq("error_o", static_cast<bool>(dut->error_o), expected.error, inputs);
      compare("term_o", expected.sum);
      if (!expected.error) compare("term_o by position", named_dot(x));
    });
  };
  const auto any_legal = [&] {
    unsigned nibble = 0;
    while (!is_metadata(nibble)) nibble = static_cast<unsigned>(rng.bits(4));
    return static_cast<std::uint8_t>(nibble);
  };
  const auto code = [&](bool finite, Format format) {
    const FormatDesc& fp8 = desc(format);
    return static_cast<std::uint8_t>(finite ? rng.below(fp8.max_code() + 1) | (rng.bits(1) != 0 ? fp8.sign_mask() : 0)
                                            : rng.bits(8));
  };
  const auto any = [&](bool legal, bool finite) {
    Vectors x;
    x.formats = static_cast<unsigned>(rng.bits(2));
    for (std::uint8_t& each : x.stored) each = code(finite, x.stored_format());
    for (std::uint8_t& each : x.dense) each = code(finite, x.dense_format());
    for (std::uint8_t& nibble : x.nibbles) nibble = legal ? any_legal() : static_cast<std::uint8_t>(rng.bits(4));
    return x;
  };

  for (unsigned group = 0; group < groups; ++group)
    for (unsigned nibble = 0; nibble < 16; ++nibble)
      for (int again = 0; again < 8; ++again) {
        Vectors x = any(true, again % 2 == 0);
        x.nibbles[group] = static_cast<std::uint8_t>(nibble);
        check(x);
      }
  for (unsigned pair = 0; pair < 1U << 16; pair += 257 - 2 * (pair % 2)) {  // alike in all lanes: the largest sums, too
    for (unsigned formats = 0; formats < 4; ++formats) {
      Vectors x = any(true, true);
      x.formats = formats;
      x.stored.fill(static_cast<std::uint8_t>(pair >> 8));
      x.dense.fill(static_cast<std::uint8_t>(pair));
      check(x);
    }
  }
  for (const bool negative : {false, true}) {
    for (unsigned formats = 0; formats < 4; ++formats) {
      Vectors x = any(true, true);
      x.formats = formats;
      x.stored.fill(static_cast<std::uint8_t>(desc(x.stored_format()).max_code()));
      x.dense.fill(static_cast<std::uint8_t>(desc(x.dense_format()).max_code() | (negative ? 0x80 : 0)));
      check(x);
    }
  }
  for (std::uint64_t n = 0; n < bench.budget(); ++n) {
    Vectors x = any(n % 8 != 0, n % 4 != 1);
    if (n % 4 == 2) {  // a special operand alone
      const unsigned special = 0x78U | static_cast<unsigned>(rng.bits(3)) | static_cast<unsigned>(rng.bits(1)) << 7;
      (rng.bits(1) != 0 ? x.stored[rng.below(lanes)] : x.dense[rng.below(2 * lanes)]) =
          static_cast<std::uint8_t>(special);
    }
    check(x);
  }
  pipe.drain();
  return bench.finish();
}
