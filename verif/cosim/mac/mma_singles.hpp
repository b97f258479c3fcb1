// SPDX-License-Identifier: Apache-2.0
// The testbench of matrix instructions whose products are aligned one by one (ng_mma_fp8, ng_mma_mx, ng_mma_rvbna)
// against golden, 16 x 16 outputs of an instruction at a time: all pairs of codes in every lane, pairs of zeros and
// specials beside a tiny product, then random vectors of several kinds, with C next to the largest label, next to what
// cancels the products, of any exponent, and special. A transcription of the rule in integers runs beside it; each of
// its wrong variants must differ somewhere, or the stimulus would be too weak to tell them apart.
//
// A unit is a type with static members:
//   name                                  what is tested
//   scaled                                products have E8M0 scales
//   right_one, wrong_ones                 the rule, and what others it is told from
//   golden(left, right, c)                D of the golden model
//   transcription(terms, c, variant)      D of the transcription
//   side(rng)                             a format, and what the unit's port says of it
//   drive(dut, sides, a_scale, b_scale)   sets the ports of formats and scales
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "mma_parts.hpp"
#include "narrowgauge/format/format.hpp"
#include "narrowgauge/mac/accumulate.hpp"

namespace narrowgauge::bench {

/// What labels products with a zero.
enum class Zeros {
  factors,   ///< -126 for the zero, and what the other factors have
  minus126,  ///< -126 alone
  nothing,   ///< none
};

constexpr std::size_t single_products = 32;

/// A rule, or a wrong variant of one. Members that a unit leaves out have no part in its rule.
struct Variant {
  const char* name;
  int bits, man = 23;
  bool nearest = false;  ///< the result is rounded to nearest even
  bool hidden = false;   ///< subnormal codes have a hidden one
  Zeros zeros = Zeros::factors;
  bool least = false;         ///< terms are cut off at the last place of FP32, too
  bool cut_products = false;  ///< rounded toward zero, not to odd
  bool cut_sum = false;       ///< rounded toward zero, not to odd, before C is added
  bool one_rounding = false;  ///< the sum is not rounded before C is added
};

/// Significands with 6 fraction bits and labels of products.
struct Terms {
  std::array<int, single_products> products{}, labels{};
  int top = -1000;
};

constexpr int mantissa_of(const MmaRule& rule) { return rule.result == MmaResult::e8m13 ? 13 : 23; }

/// D of a rule that cuts off products and C at one place.
inline std::uint32_t truncated_sum(const Terms& t, std::uint32_t c_code, const Variant& v) {
  const Start c(c_code);
  const int top = std::max(c.label, t.top), least = v.least ? std::max(top - v.bits, -149) : top - v.bits;
  __int128 total = moved(c.significand, c.label - least - 23);
  for (std::size_t i = 0; i < t.products.size(); ++i) total += moved(t.products[i], t.labels[i] - least - 6);
  return rounded(total, least, v.man, v.nearest);
}

/// The format of an operand, and the port's value, which may say nothing.
struct Side {
  Format format;
  unsigned port;
};

template <class Unit>
class SinglesBench {
 public:
  SinglesBench(int argc, char** argv) : bench_(argc, argv, Unit::name, 1'000'000), dut_(bench_) {}

  int run() {
    const std::uint64_t tiles = lanes << 8;
    formats();
    const std::uint64_t step = std::min(bench_.sweep_step("pairs of codes in every lane", tiles * side * side), tiles);
    for (std::uint64_t tile = 0; tile < tiles; tile += step) {
      if (tile % 256 < step) formats();
      for (std::size_t i = 0; i < side; ++i) {
        a_[i] = {};
        b_[i] = {};
        a_[i].codes[tile / 256] = code(0, tile % 256 / side * side + i);
        b_[i].codes[tile / 256] = code(1, tile % side * side + i);
      }
      scales();
      outputs();
    }
    specials();
    for (std::uint64_t done = 0; done < bench_.budget(); done += side * side) {
      formats();
      vectors();
      scales();
      outputs();
    }
    pipe_.drain();
    for (std::size_t i = 0; i < differ_.size() && bench_.budget() >= 2000; ++i) {
      bench_.expect(differ_[i] != 0, [&] {
        return std::string("no output is another one with ") + Unit::wrong_ones[i].name + "; expected some";
      });
    }
    return bench_.finish();
  }

 private:
  static constexpr std::size_t side = 16, lanes = single_products;

  struct Row {
    std::array<std::uint8_t, lanes> codes{};
    std::uint8_t scale = 127;
  };

  std::uint32_t below(std::uint32_t bound) { return bench_.rng().below(bound); }
  const FormatDesc& format(std::size_t m) const { return desc(sides_[m].format); }
  std::uint8_t sign(std::size_t m) const { return static_cast<std::uint8_t>(format(m).sign_mask()); }
  std::uint8_t code(std::size_t m, std::uint64_t x) const { return static_cast<std::uint8_t>(x & (2U * sign(m) - 1)); }

  void formats() {
    for (Side& s : sides_) s = Unit::side(bench_.rng());
  }

  /// Zeros, infinities, NaN and ends of the range of FP8 in each lane, beside a tiny product in the next one, in all
  /// pairs of FP8 formats that the unit has.
  void specials() {
    constexpr std::array<std::uint8_t, side> codes{0x00, 0x80, 0x01, 0x81, 0x04, 0x3C, 0xBC, 0x7B,
                                                   0x7C, 0xFC, 0x7D, 0xFD, 0x7E, 0xFE, 0x7F, 0xFF};
    for (std::size_t tile = 0; tile < 4 * lanes; ++tile) {
      const std::array<Format, 2> wanted{(tile & 1) != 0 ? Format::e5m2 : Format::e4m3,
                                         (tile & 2) != 0 ? Format::e5m2 : Format::e4m3};
      const auto found = [&] { return sides_[0].format == wanted[0] && sides_[1].format == wanted[1]; };
      for (int tries = 0; tries < 500 && (tries == 0 || !found()); ++tries) formats();
      if (!found()) continue;
      for (std::size_t i = 0; i < side; ++i) {
        for (Row* row : {&a_[i], &b_[i]}) {
          *row = {};
          row->codes[tile / 4] = codes[i];
          row->codes[(tile / 4 + 1) % lanes] = static_cast<std::uint8_t>(1 + below(3)) | zero(0);
        }
      }
      scales();
      outputs();
    }
  }

  /// A finite code whose magnitude is below `bound` above `from`.
  std::uint8_t finite(std::size_t m, std::uint32_t from, std::uint32_t bound) {
    return static_cast<std::uint8_t>(std::min(from + below(bound), format(m).max_code()) | zero(m));
  }
  std::uint8_t zero(std::size_t m) { return below(2) != 0 ? sign(m) : 0; }

  void vectors() {
    const std::uint32_t kind = below(8);
    const bool cancel = below(4) == 0;  // lanes cancel in pairs, but for one
    const bool specials = below(4) == 0;
    for (std::size_t m = 0; m < 2; ++m) {
      const std::uint32_t top = format(m).max_code();
      for (Row& whole : m == 0 ? a_ : b_) {
        auto& row = whole.codes;
        const std::uint32_t base = below(top + 1), spread = 1 + below(top / 5), full = below(lanes + 1);
        for (std::size_t i = 0; i < lanes; ++i) {
          switch (kind) {
            case 0:
              row[i] = finite(m, base, spread);
              break;
            case 1:
              row[i] = finite(m, 0, 10);
              break;
            case 2:
              row[i] = below(8) != 0 ? zero(m) : finite(m, 0, top + 1);
              break;
            case 3:
              row[i] = (below(2) != 0) == (m == 0) || below(8) == 0 ? 0 : finite(m, base, spread);
              break;
            case 4:
              row[i] = i < full ? finite(m, top - 6, 8) & (below(4) == 0 ? 255 : sign(m) - 1) : 0;
              break;
            case 5:
              row[i] = m == 0 ? zero(m) : finite(m, base, spread);
              break;
            default:
              row[i] = finite(m, 0, top + 1);
              break;
          }
        }
        for (std::size_t i = 1; cancel && i < lanes; i += 2) row[i] = row[i - 1] ^ (m == 0 ? sign(m) : 0);
        if (cancel) row[below(lanes)] ^= below(2);
        if (specials && format(m).bits == 8 && below(2) != 0) {  // NaN, or E5M2's infinity
          row[below(lanes)] = static_cast<std::uint8_t>((below(2) != 0 ? 0x7F : 0x7C | below(4)) | zero(m));
        }
      }
    }
    // Zeros on either side of every product, beside which C is tiny.
    for (std::size_t i = 0; kind == 3 && i < lanes; ++i) {
      const std::size_t m = below(2);
      for (Row& row : m == 0 ? a_ : b_) row.codes[i] = zero(m);
    }
  }

  /// Scales of any size, near 1, at the ends, and such that products are the smallest or largest FP32 numbers.
  void scales() {
    if (!Unit::scaled) return;
    const std::uint32_t kind = below(8), base = below(255), target = below(2) != 0 ? 100 + below(70) : 330 + below(70);
    for (Row& row : a_) row.scale = static_cast<std::uint8_t>(kind == 0 ? 120 + below(16) : below(255));
    for (Row& row : b_) row.scale = static_cast<std::uint8_t>(kind == 0 ? 120 + below(16) : below(255));
    for (std::size_t i = 0; i < side && kind > 2; ++i) {
      const std::uint32_t first = std::min(base, target), rest = std::min(target - first, 254U);
      a_[i].scale = static_cast<std::uint8_t>(std::min(first + below(4), 254U));
      b_[i].scale = static_cast<std::uint8_t>(std::min(rest + below(4), 254U));
    }
    for (std::size_t i = 0; i < side && kind == 2; ++i) {
      a_[i].scale = static_cast<std::uint8_t>(below(2) != 0 ? below(4) : 251 + below(4));
      b_[i].scale = static_cast<std::uint8_t>(below(2) != 0 ? below(4) : 251 + below(4));
    }
    if (below(16) == 0) (below(2) != 0 ? a_ : b_)[below(side)].scale = 255;  // NaN
  }

  MmaOperand operand(std::size_t m) {
    std::vector<std::uint16_t>& codes = codes_[m];
    std::vector<std::uint8_t>& scales = scales_[m];
    codes.clear();
    scales.clear();
    for (const Row& row : m == 0 ? a_ : b_) {
      codes.insert(codes.end(), row.codes.begin(), row.codes.end());
      scales.push_back(row.scale);
    }
    MmaOperand operand{.element = sides_[m].format, .rows = side, .k = lanes, .codes = codes};
    if (Unit::scaled) operand.block = lanes, operand.scale = Format::e8m0, operand.scales = scales;
    return operand;
  }

  struct Element {
    int significand, label;  ///< with three fraction bits
    bool zero;
  };
  static Element element(const FormatDesc& f, std::uint8_t code, const Variant& v) {
    const int payload = static_cast<int>(f.magnitude(code)), field = payload >> f.man_bits;
    if (payload == 0) return {0, -126, true};
    const int hidden = field != 0 || v.hidden ? 1 << f.man_bits : 0;
    const int significand = ((payload & ((1 << f.man_bits) - 1)) | hidden) << (3 - f.man_bits);
    return {f.is_negative(code) ? -significand : significand, std::max(field, 1) - f.bias, false};
  }

  Terms terms(const Row& a, const Row& b, const Variant& v) const {
    Terms t;
    for (std::size_t i = 0; i < lanes; ++i) {
      const Element x = element(format(0), a.codes[i], v), y = element(format(1), b.codes[i], v);
      t.products[i] = x.significand * y.significand;
      t.labels[i] = x.label + y.label + (a.scale - 127) + (b.scale - 127);
      if ((x.zero || y.zero) && v.zeros != Zeros::factors) t.labels[i] = v.zeros == Zeros::nothing ? -1000 : -126;
      t.top = std::max(t.top, t.labels[i]);
    }
    return t;
  }

  std::uint32_t transcription(const Row& a, const Row& b, std::uint32_t c, const Variant& v) const {
    return Unit::transcription(terms(a, b, v), c, v);
  }

  void outputs() {
    const MmaOperand left = operand(0), right = operand(1);
    const std::vector<float> products = Unit::golden(left, right, std::span<const float>());
    std::vector<float> c(side * side);
    for (std::size_t i = 0; i < c.size(); ++i) {
      const int top = terms(a_[i / side], b_[i % side], Unit::right_one).top;
      const std::uint32_t tiny = number(bench_.rng(), static_cast<int>(below(20)));
      const std::uint32_t other = start(bench_.rng(), top, bits_of(products[i]));
      c[i] = std::bit_cast<float>(top < -100 && below(2) != 0 ? tiny : other);
    }
    const std::vector<float> d = Unit::golden(left, right, std::span<const float>(c));
    for (std::size_t i = 0; i < d.size(); ++i) {
      const Row &a = a_[i / side], &b = b_[i % side];
      check(a, b, bits_of(c[i]), bits_of(d[i]));
      if (i % 4 == 0 && std::isfinite(d[i])) tell_apart(a, b, bits_of(c[i]), bits_of(d[i]));
    }
  }

  /// A narrow code has any bits above it.
  std::uint8_t wide(std::size_t m, std::uint8_t code) {
    return static_cast<std::uint8_t>(code | bench_.rng().bits(8 - format(m).bits) << format(m).bits);
  }

  void check(const Row& a, const Row& b, std::uint32_t c, std::uint32_t d) {
    for (std::size_t i = 0; i < lanes; ++i) {
      set_bits(dut_->a_i, static_cast<unsigned>(8 * i), 8, wide(0, a.codes[i]));
      set_bits(dut_->b_i, static_cast<unsigned>(8 * i), 8, wide(1, b.codes[i]));
    }
    Unit::drive(*dut_, sides_, a.scale, b.scale);
    dut_->fp32_i = c;
    pipe_([this, a, b, c, d, sides = sides_] {
      bench_.expect_eq("fp32_o", dut_->fp32_o, d, [&] { return text(a, b, c, sides); });
    });
  }

  void tell_apart(const Row& a, const Row& b, std::uint32_t c, std::uint32_t d) {
    bench_.expect_eq("transcription", transcription(a, b, c, Unit::right_one), d,
                     [&] { return text(a, b, c, sides_); });
    for (std::size_t i = 0; i < differ_.size(); ++i) differ_[i] += transcription(a, b, c, Unit::wrong_ones[i]) != d;
  }

  static std::string text(const Row& a, const Row& b, std::uint32_t c, const std::array<Side, 2>& sides) {
    std::string text = "C " + hex(c) + ", " + std::string(desc(sides[0].format).name) + " and " +
                       std::string(desc(sides[1].format).name) + ", scales " + hex(a.scale) + " and " + hex(b.scale) +
                       ", lanes (a, b), 0 first:";
    for (std::size_t i = 0; i < lanes; ++i) text += " (" + hex(a.codes[i]) + ", " + hex(b.codes[i]) + ")";
    return text;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  CutPipe<Vdut> pipe_{bench_, dut_};
  std::array<Row, side> a_, b_;
  std::array<Side, 2> sides_{};
  std::array<std::vector<std::uint16_t>, 2> codes_;
  std::array<std::vector<std::uint8_t>, 2> scales_;
  std::array<std::uint64_t, Unit::wrong_ones.size()> differ_{};
};

}  // namespace narrowgauge::bench
