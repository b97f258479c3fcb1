// SPDX-License-Identifier: Apache-2.0
// ng_dot_fp8 against the golden dot product: every lane through all 2^16 pairs of codes, the largest sums, every
// special operand alone in every lane, the codes beside zero and the specials in every lane with no point left out,
// then random dots of several kinds. Build parameters: NG_LANES, NG_FORMAT_SET, NG_CUTS.
#include <array>
#include <bit>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/dot_fp8.hpp"
#include "narrowgauge/quant/format_set.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr unsigned lanes = NG_LANES;
constexpr unsigned format_set = NG_FORMAT_SET;
constexpr unsigned width = (format_set == format_set::e4m3 ? 37 : 65) + std::bit_width(lanes - 1);
constexpr int lsb_exp = format_set == format_set::e4m3 ? fp8_lsb_exp_e4m3 : fp8_lsb_exp;

class DotFp8Bench {
 public:
  DotFp8Bench(int argc, char** argv) : bench_(argc, argv, "dot_fp8", 1'000'000), dut_(bench_), pipe_(bench_, dut_) {
    for (unsigned formats = 0; formats < 4; ++formats) {
      products_[formats].resize(1 << 16);
      for (unsigned x = 0; x < 1 << 16; ++x)
        products_[formats][x] = fp8_product(x >> 8, x & 0xFF, format(formats & 1), format(formats >> 1), lsb_exp);
    }
  }

  int run() {
    for (unsigned formats = 0; formats < 4; ++formats) {
      // A set of one format must ignore the format ports: one of the four settings is enough for the long sweeps.
      formats_ = format_set == format_set::fp8 ? formats : bench_.rng().below(4);
      if (format_set == format_set::fp8 || formats == 0) {
        sweep_lanes();
        sweep_equal();
        sweep_specials();
        sweep_borders();
      }
    }
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      formats_ = bench_.rng().below(4);
      random_dot();
      check();
    }
    pipe_.drain();
    return bench_.finish();
  }

 private:
  static Format format(bool port) {
    return format_set == format_set::e4m3 || (format_set == format_set::fp8 && !port) ? Format::e4m3 : Format::e5m2;
  }
  const FormatDesc& a_desc() const { return desc(format(formats_ & 1)); }
  const FormatDesc& b_desc() const { return desc(format(formats_ >> 1)); }

  /// All lanes at once, each through all pairs in an order of its own.
  void sweep_lanes() {
    std::array<std::uint64_t, lanes> stride, start;
    for (unsigned i = 0; i < lanes; ++i) {
      stride[i] = bench_.rng().bits(16) | 1;
      start[i] = bench_.rng().bits(16);
    }
    for (std::uint64_t x = 0, step = bench_.sweep_step("a x b in every lane", 1 << 16); x < 1 << 16; x += step) {
      for (unsigned i = 0; i < lanes; ++i) set_pair(i, static_cast<unsigned>((x * stride[i] + start[i]) & 0xFFFF));
      check();
    }
  }

  /// The same pair in all lanes: the largest sums of either sign, where a tree that is too narrow overflows.
  void sweep_equal() {
    for (std::uint64_t x = 0, step = bench_.sweep_step("a x b equal in all lanes", 1 << 16); x < 1 << 16; x += step) {
      for (unsigned i = 0; i < lanes; ++i) set_pair(i, static_cast<unsigned>(x));
      check();
    }
  }

  /// One special operand in one lane, with any other operand beside it and finite numbers in the other lanes.
  void sweep_specials() {
    std::vector<unsigned> pairs;
    for (unsigned x = 0; x < 1 << 16; ++x) {
      const auto special = [](const FormatDesc& fp8, unsigned code) { return fp8.is_nan(code) || fp8.is_inf(code); };
      if (special(a_desc(), x >> 8) || special(b_desc(), x & 0xFF)) pairs.push_back(x);
    }
    const std::uint64_t points = pairs.size() * lanes;
    for (std::uint64_t x = 0, step = bench_.sweep_step("one special operand", points); x < points; x += step) {
      for (unsigned i = 0; i < lanes; ++i) set(i, finite(a_desc()), finite(b_desc()));
      set_pair(static_cast<unsigned>(x % lanes), pairs[x / lanes]);
      check();
    }
  }

  /// In each lane and of each operand the codes between which it is decoded differently (zero, the specials, and what
  /// one bit tells from them), beside an infinity, a NaN and a number of the other operand, with finite numbers in the
  /// other lanes: only there a product's flags are seen, and a zero by its NaN beside an infinity. Few points, hence
  /// all of them however small the budget: a sample of the sweep above misses lanes.
  void sweep_borders() {
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (const bool of_a : {true, false}) {
        const FormatDesc &fp8 = of_a ? a_desc() : b_desc(), &other = of_a ? b_desc() : a_desc();
        for (unsigned code = 0; code <= fp8.payload_mask(); ++code) {
          if (!on_border(fp8, code)) continue;
          for (const unsigned beside : {other.max_code() + 1, other.payload_mask(), finite(other)}) {
            for (unsigned i = 0; i < lanes; ++i) set(i, finite(a_desc()), finite(b_desc()));
            const unsigned x = either_sign(fp8, code), y = either_sign(other, beside);
            set(lane, of_a ? x : y, of_a ? y : x);
            check();
          }
        }
      }
  }

  void random_dot() {
    switch (bench_.rng().below(6)) {
      case 0:  // any code
        for (unsigned i = 0; i < lanes; ++i) set_pair(i, static_cast<unsigned>(bench_.rng().bits(16)));
        break;
      case 1:  // finite numbers
        for (unsigned i = 0; i < lanes; ++i) set(i, finite(a_desc()), finite(b_desc()));
        break;
      case 2: {  // one binade or two: the products overlap
        const unsigned a_base = finite(a_desc()), b_base = finite(b_desc());
        for (unsigned i = 0; i < lanes; ++i) set(i, near(a_desc(), a_base), near(b_desc(), b_base));
        break;
      }
      case 3: {  // cancellation: pairs of lanes that differ by at most one unit in the last place of one operand
        const unsigned distance = 1 + bench_.rng().below(lanes - 1);
        for (unsigned i = 0; i < lanes; ++i) set(i, finite(a_desc()), finite(b_desc()));
        for (unsigned i = 0; i + distance < lanes; i += 2 * distance) {
          const unsigned nudge = bench_.rng().below(4) == 0 ? 1 : 0;
          set(i + distance, a_[i] ^ a_desc().sign_mask() ^ nudge, b_[i]);
        }
        break;
      }
      case 4:  // ends of the range only
        for (unsigned i = 0; i < lanes; ++i) set(i, corner(a_desc()), corner(b_desc()));
        break;
      default:  // finite numbers but for one operand or two
        for (unsigned i = 0; i < lanes; ++i) set(i, finite(a_desc()), finite(b_desc()));
        for (unsigned n = 1 + bench_.rng().below(2); n > 0; --n) {
          const unsigned i = bench_.rng().below(lanes);
          set(i, a_desc().max_code() + 1 + bench_.rng().below(128 - a_desc().max_code() - 1), b_[i]);
          if (bench_.rng().below(2) == 0) set(i, a_[i], corner(b_desc()));
          if (bench_.rng().below(2) == 0) set(i, a_[i] ^ a_desc().sign_mask(), b_[i]);
          if (a_desc().bits == b_desc().bits && bench_.rng().below(2) == 0 && formats_ % 3 == 0) set(i, b_[i], a_[i]);
        }
    }
  }

  /// Whether at most one bit tells this magnitude from zero, from the largest code or from the lowest special one.
  static bool on_border(const FormatDesc& fp8, unsigned code) {
    const auto beside = [code](unsigned border) { return std::popcount(code ^ border) <= 1; };
    return beside(0) || beside(fp8.payload_mask()) || beside(fp8.max_code() + 1);
  }
  unsigned either_sign(const FormatDesc& fp8, unsigned code) {
    return code | (bench_.rng().below(2) ? fp8.sign_mask() : 0);
  }
  unsigned finite(const FormatDesc& fp8) { return either_sign(fp8, bench_.rng().below(fp8.max_code() + 1)); }
  unsigned near(const FormatDesc& fp8, unsigned code) {
    const unsigned step = 2U << fp8.man_bits, magnitude = (code & fp8.payload_mask()) + bench_.rng().below(step);
    return either_sign(fp8, std::min(magnitude, fp8.max_code()));
  }
  unsigned corner(const FormatDesc& fp8) {
    const unsigned codes[] = {0, 1, (1U << fp8.man_bits) - 1, 1U << fp8.man_bits, fp8.max_code() - 1, fp8.max_code()};
    return either_sign(fp8, codes[bench_.rng().below(std::size(codes))]);
  }

  void set(unsigned lane, unsigned a, unsigned b) {
    a_[lane] = static_cast<std::uint8_t>(a);
    b_[lane] = static_cast<std::uint8_t>(b);
  }
  void set_pair(unsigned lane, unsigned pair) { set(lane, pair >> 8, pair); }

  void check() {
    Fp8Sum expected;
    for (unsigned i = 0; i < lanes; ++i) {
      const Fp8Sum& product = products_[formats_][a_[i] << 8 | b_[i]];
      expected.value += product.value;
      expected.flags |= product.flags;
      set_bits(dut_->a_i, 8 * i, 8, a_[i]);
      set_bits(dut_->b_i, 8 * i, 8, b_[i]);
    }
    dut_->a_fmt_i = formats_ & 1;
    dut_->b_fmt_i = formats_ >> 1;
    pipe_([this, expected, a_name = a_desc().name, b_name = b_desc().name, a = a_, b = b_] {
      const auto inputs = [&] {
        std::string text = std::string(a_name) + " x " + std::string(b_name) + ", lane 0 first, a x b:";
        for (unsigned i = 0; i < lanes; ++i) text += ' ' + hex(a[i]) + 'x' + hex(b[i]);
        return text;
      };
      bench_.expect_eq("term_o", get_signed128(dut_->term_o, 0, width), expected.value, inputs);
      bench_.expect_eq("nan_o", static_cast<bool>(dut_->nan_o), expected.flags.nan, inputs);
      bench_.expect_eq("pinf_o", static_cast<bool>(dut_->pinf_o), expected.flags.pinf, inputs);
      bench_.expect_eq("ninf_o", static_cast<bool>(dut_->ninf_o), expected.flags.ninf, inputs);
    });
  }

  Bench bench_;
  Dut<Vdut> dut_;
  CutPipe<Vdut> pipe_;
  std::array<std::vector<Fp8Sum>, 4> products_;  // of the golden model; index: formats, a << 8 | b
  unsigned formats_ = 0;                         // bit 0: a_fmt_i, bit 1: b_fmt_i
  std::array<std::uint8_t, lanes> a_{}, b_{};
};

}  // namespace

int main(int argc, char** argv) { return DotFp8Bench(argc, argv).run(); }
