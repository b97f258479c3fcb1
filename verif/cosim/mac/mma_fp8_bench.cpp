// SPDX-License-Identifier: Apache-2.0
// ng_mma_fp8 against golden, 16 x 16 outputs of an instruction at a time: all pairs of codes in every lane, then random
// vectors of several kinds, with C next to the largest label, next to what cancels the products, of any exponent, and
// special. A transcription of the rule in integers runs beside it; each of its wrong variants must differ somewhere, or
// the stimulus would be too weak to tell them apart. Build parameters: NG_MODE, NG_FORMAT_SET, NG_CUTS.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "mma_parts.hpp"
#include "narrowgauge/mac/accumulate.hpp"
#include "narrowgauge/quant/format_set.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr std::size_t side = 16, lanes = 32;
constexpr bool hopper = NG_MODE != 0;
constexpr MmaRule rule = hopper ? hopper_32 : blackwell_32;

using Row = std::array<std::uint8_t, lanes>;

struct Variant {
  const char* name;
  int bits, man;
  bool nearest, hidden, zeros_count;  ///< rounded to nearest even; subnormal codes with a hidden one; labels of zeros
};
constexpr int man = hopper ? 13 : 23;
constexpr Variant right_one{"transcription", rule.bits, man, false, false, true};
constexpr std::array<Variant, 6> wrong_ones{{
    {"a bit less", rule.bits - 1, man, false, false, true},
    {"a bit more", rule.bits + 1, man, false, false, true},
    {"rounded to nearest", rule.bits, man, true, false, true},
    {"nothing cut off", 80, man, false, false, true},
    {"a hidden one in subnormal numbers", rule.bits, man, false, true, true},
    {"zeros without a label", rule.bits, man, false, false, false},
}};

struct Element {
  int significand, label;  ///< with three fraction bits
};

Element element(std::uint8_t code, bool e5m2, const Variant& v) {
  const int man_bits = e5m2 ? 2 : 3, field = (code & 127) >> man_bits;
  if ((code & 127) == 0) return {0, v.zeros_count ? -126 : -1000};
  const int significand = ((code & ((1 << man_bits) - 1)) | (field != 0 || v.hidden ? 1 << man_bits : 0))
                          << (3 - man_bits);
  return {(code & 128) != 0 ? -significand : significand, std::max(field, 1) - (e5m2 ? 15 : 7)};
}

class MmaBench {
 public:
  MmaBench(int argc, char** argv) : bench_(argc, argv, "mma_fp8", 1'000'000), dut_(bench_) {}

  int run() {
    const std::uint64_t tiles = lanes << 8;
    formats();
    const std::uint64_t step = std::min(bench_.sweep_step("pairs of codes in every lane", tiles * side * side), tiles);
    for (std::uint64_t tile = 0; tile < tiles; tile += step) {
      if (tile % 256 < step) formats();
      for (std::size_t i = 0; i < side; ++i) {
        a_[i].fill(0);
        b_[i].fill(0);
        a_[i][tile / 256] = static_cast<std::uint8_t>(tile % 256 / side * side + i);
        b_[i][tile / 256] = static_cast<std::uint8_t>(tile % side * side + i);
      }
      outputs();
    }
    for (std::uint64_t done = 0; done < bench_.budget(); done += side * side) {
      formats();
      vectors();
      outputs();
    }
    pipe_.drain();
    for (std::size_t i = 0; i < wrong_ones.size() && bench_.budget() >= 2000; ++i) {
      bench_.expect(differ_[i] != 0, [&] {
        return std::string("no output is another one with ") + wrong_ones[i].name + "; expected some";
      });
    }
    return bench_.finish();
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return bench_.rng().below(bound); }

  /// The formats of both operands, and what the ports say, which a set of one format ignores.
  void formats() {
    for (std::size_t m = 0; m < 2; ++m) {
      port_[m] = below(2) != 0;
      e5m2_[m] = NG_FORMAT_SET == format_set::fp8 ? port_[m] : NG_FORMAT_SET == format_set::e5m2;
    }
  }

  /// A finite code whose magnitude is below `bound`, of 128.
  std::uint8_t finite(std::size_t m, std::uint32_t from, std::uint32_t bound) {
    const std::uint32_t top = e5m2_[m] ? 0x7B : 0x7E;
    return static_cast<std::uint8_t>(std::min(from + below(bound), top) | below(2) << 7);
  }

  void vectors() {
    const std::uint32_t kind = below(8);
    const bool cancel = below(4) == 0;  // lanes cancel in pairs, but for one
    for (std::size_t m = 0; m < 2; ++m) {
      for (Row& row : m == 0 ? a_ : b_) {
        const std::uint32_t base = below(127), spread = 1 + below(24), full = below(lanes + 1);
        for (std::size_t i = 0; i < lanes; ++i) {
          switch (kind) {
            case 0:
              row[i] = finite(m, base, spread);
              break;
            case 1:
              row[i] = finite(m, 0, 10);
              break;
            case 2:
              row[i] = below(8) != 0 ? static_cast<std::uint8_t>(below(2) << 7) : finite(m, 0, 127);
              break;
            case 3:
              row[i] = (below(2) != 0) == (m == 0) || below(8) == 0 ? 0 : finite(m, base, spread);
              break;
            case 4:
              row[i] = i < full ? finite(m, 120, 8) & (below(4) == 0 ? 255 : 127) : 0;
              break;
            case 5:
              row[i] = m == 0 ? static_cast<std::uint8_t>(below(2) << 7) : finite(m, base, spread);
              break;
            default:
              row[i] = finite(m, 0, 128);
              break;
          }
        }
        for (std::size_t i = 1; cancel && i < lanes; i += 2) row[i] = row[i - 1] ^ (m == 0 ? 128 : 0);
        if (cancel) row[below(lanes)] ^= below(2);
        if (below(32) == 0) row[below(lanes)] |= below(2) != 0 ? 0x7F : 0x7C;  // NaN; infinite in E5M2
        if (below(32) == 0) row[below(lanes)] = 0x7C;
      }
    }
    // Zeros on either side of every product, beside which C is tiny.
    for (std::size_t i = 0; kind == 3 && i < lanes; ++i) {
      const bool left = below(2) != 0;
      for (Row& row : left ? a_ : b_) row[i] = static_cast<std::uint8_t>(below(2) << 7);
    }
  }

  MmaOperand operand(std::size_t m, std::vector<std::uint16_t>& codes) const {
    codes.clear();
    for (const Row& row : m == 0 ? a_ : b_) codes.insert(codes.end(), row.begin(), row.end());
    return {.element = e5m2_[m] ? Format::e5m2 : Format::e4m3, .rows = side, .k = lanes, .codes = codes};
  }

  struct Terms {
    std::array<int, lanes> products, labels;
    int top;
  };
  Terms terms(const Row& a, const Row& b, const Variant& v) const {
    Terms t{{}, {}, -1000};
    for (std::size_t i = 0; i < lanes; ++i) {
      const Element x = element(a[i], e5m2_[0], v), y = element(b[i], e5m2_[1], v);
      t.products[i] = x.significand * y.significand;
      t.labels[i] = x.label + y.label;
      t.top = std::max(t.top, t.labels[i]);
    }
    return t;
  }

  std::uint32_t transcription(const Row& a, const Row& b, std::uint32_t c_code, const Variant& v) const {
    const Start c(c_code);
    const Terms t = terms(a, b, v);
    const int top = std::max(c.label, t.top);
    __int128 total = moved(c.significand, c.label - top + v.bits - 23);
    for (std::size_t i = 0; i < lanes; ++i) total += moved(t.products[i], t.labels[i] - top + v.bits - 6);
    return rounded(total, top - v.bits, v.man, v.nearest);
  }

  void outputs() {
    const MmaOperand left = operand(0, a_codes_), right = operand(1, b_codes_);
    const std::vector<float> products = mma(left, right, {}, rule, 1);
    std::vector<float> c(side * side);
    for (std::size_t i = 0; i < c.size(); ++i) {
      const int top = terms(a_[i / side], b_[i % side], right_one).top;
      const std::uint32_t tiny = number(bench_.rng(), static_cast<int>(below(20)));
      const std::uint32_t other = start(bench_.rng(), top, bits_of(products[i]));
      c[i] = std::bit_cast<float>(top < -100 && below(2) != 0 ? tiny : other);
    }
    const std::vector<float> d = mma(left, right, c, rule, 1);
    for (std::size_t i = 0; i < d.size(); ++i) {
      const Row &a = a_[i / side], &b = b_[i % side];
      check(a, b, bits_of(c[i]), bits_of(d[i]));
      if (i % 4 == 0 && std::isfinite(d[i])) tell_apart(a, b, bits_of(c[i]), bits_of(d[i]));
    }
  }

  void check(const Row& a, const Row& b, std::uint32_t c, std::uint32_t d) {
    for (std::size_t i = 0; i < lanes; ++i) {
      set_bits(dut_->a_i, static_cast<unsigned>(8 * i), 8, a[i]);
      set_bits(dut_->b_i, static_cast<unsigned>(8 * i), 8, b[i]);
    }
    dut_->a_fmt_i = port_[0];
    dut_->b_fmt_i = port_[1];
    dut_->fp32_i = c;
    pipe_([this, a, b, c, d, e5m2 = e5m2_] {
      bench_.expect_eq("fp32_o", dut_->fp32_o, d, [&] { return text(a, b, c, e5m2); });
    });
  }

  void tell_apart(const Row& a, const Row& b, std::uint32_t c, std::uint32_t d) {
    bench_.expect_eq(right_one.name, transcription(a, b, c, right_one), d, [&] { return text(a, b, c, e5m2_); });
    for (std::size_t i = 0; i < wrong_ones.size(); ++i) differ_[i] += transcription(a, b, c, wrong_ones[i]) != d;
  }

  static std::string text(const Row& a, const Row& b, std::uint32_t c, const std::array<bool, 2>& e5m2) {
    std::string text = "C " + hex(c) + (e5m2[0] ? ", E5M2" : ", E4M3") + (e5m2[1] ? " and E5M2" : " and E4M3");
    text += ", lanes (a, b), 0 first:";
    for (std::size_t i = 0; i < lanes; ++i) text += " (" + hex(a[i]) + ", " + hex(b[i]) + ")";
    return text;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  CutPipe<Vdut> pipe_{bench_, dut_};
  std::array<Row, side> a_, b_;
  std::array<bool, 2> port_{}, e5m2_{};
  std::vector<std::uint16_t> a_codes_, b_codes_;
  std::array<std::uint64_t, wrong_ones.size()> differ_{};
};

}  // namespace

int main(int argc, char** argv) { return MmaBench(argc, argv).run(); }
