// SPDX-License-Identifier: Apache-2.0
// ng_mma_nvfp4 against golden, 16 x 16 outputs of an instruction at a time: all pairs of scales, then random blocks of
// several kinds under scales of several kinds, with C next to the largest label, next to what cancels the products, of
// any exponent, and special. A transcription of the rule in integers runs beside it; each of its wrong variants must
// differ somewhere, or the stimulus would be too weak to tell them apart. Build parameters: NG_E8M0, NG_CUTS.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "mma_parts.hpp"
#include "narrowgauge/mac/accumulate.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr bool e8m0 = NG_E8M0 != 0;
constexpr std::size_t side = 16, groups = 4, scales = e8m0 ? 2 : 4;
constexpr std::uint8_t nan_scale = e8m0 ? 255 : 127;

/// 64 codes, a group of 16 in a word, and the scale of one group or of two.
struct Row {
  std::array<std::uint64_t, groups> codes{};
  std::array<std::uint8_t, scales> scale{};

  std::uint8_t scale_of_group(std::size_t g) const { return scale[g * scales / groups]; }
};

struct Variant {
  const char* name;
  int bits = 35;
  bool nearest = false;  ///< rounded to nearest even
  bool hidden = false;   ///< subnormal UE4M3 scales have a hidden one
  bool least = false;    ///< terms are cut off at the last place of FP32, too
  bool zero = false;     ///< an E8M0 scale of 0 is zero
};
constexpr Variant right_one{.name = "transcription"};
constexpr std::array<Variant, e8m0 ? 6 : 5> wrong_ones{{
    {.name = "34 bits", .bits = 34},
    {.name = "36 bits", .bits = 36},
    {.name = "rounded to nearest", .nearest = true},
    {.name = "nothing cut off", .bits = 90},
#if NG_E8M0
    {.name = "terms cut off at the last place of FP32", .least = true},
    {.name = "a scale of zero", .zero = true},
#else
    {.name = "a hidden one in subnormal scales", .hidden = true},
#endif
}};

/// significand * 2^(label - 3)
struct Scale {
  int significand, label;
};

Scale scale_of(std::uint8_t code, const Variant& v) {
  if (e8m0) return v.zero && code == 0 ? Scale{0, -126} : Scale{8, code - 127};
  const int field = code >> 3 & 15, mantissa = code & 7;
  if (field == 0 && mantissa == 0) return {0, -126};
  return {mantissa | (field != 0 || v.hidden ? 8 : 0), std::max(field, 1) - 7};
}

std::int64_t dot_of(std::uint64_t a, std::uint64_t b) {
  constexpr std::array<int, 8> twice{0, 1, 2, 3, 4, 6, 8, 12};
  std::int64_t dot = 0;
  for (unsigned at = 0; at < 64; at += 4) {
    const int product = twice[a >> at & 7] * twice[b >> at & 7];
    dot += ((a ^ b) >> at & 8) != 0 ? -product : product;
  }
  return dot;
}

/// D of finite operands.
std::uint32_t transcription(const Row& a, const Row& b, std::uint32_t c_code, const Variant& v) {
  const Start c(c_code);
  int top = c.label;
  std::array<std::int64_t, groups> terms;
  std::array<int, groups> labels;
  for (std::size_t g = 0; g < groups; ++g) {
    const Scale x = scale_of(a.scale_of_group(g), v), y = scale_of(b.scale_of_group(g), v);
    terms[g] = dot_of(a.codes[g], b.codes[g]) * x.significand * y.significand;
    labels[g] = x.label + y.label;
    top = std::max(top, labels[g]);
  }
  const int least = v.least ? std::max(top - v.bits, -149) : top - v.bits;
  __int128 total = moved(c.significand, c.label - least - 23);
  for (std::size_t g = 0; g < groups; ++g) total += moved(terms[g], labels[g] - least - 8);
  return rounded(total, least, 23, v.nearest);
}

class MmaBench {
 public:
  MmaBench(int argc, char** argv) : bench_(argc, argv, "mma_nvfp4", 1'000'000), dut_(bench_) {}

  int run() {
    const std::uint64_t pairs = 1U << 16, tiles = pairs / (side * side);
    const std::uint64_t step = std::min(bench_.sweep_step("pairs of scales", pairs), tiles);
    for (std::uint64_t tile = 0; tile < tiles; tile += step) {
      blocks();
      for (std::size_t i = 0; i < side; ++i) {
        a_[i].scale.fill(static_cast<std::uint8_t>(tile / side * side + i));
        b_[i].scale.fill(static_cast<std::uint8_t>(tile % side * side + i));
      }
      outputs();
    }
    for (std::uint64_t done = 0; done < bench_.budget(); done += side * side) {
      blocks();
      if (e8m0) {
        powers();
      } else {
        fractions();
      }
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
  template <class T, std::size_t n>
  T one_of(const std::array<T, n>& choices) {
    return choices[below(n)];
  }

  /// Codes of a group: dense ones, few, a lone one, the largest, none.
  std::uint64_t group() {
    const std::uint64_t dense = bench_.rng()();
    switch (below(8)) {
      case 0:
        return dense & (bench_.rng()() & bench_.rng()() & 0x1111'1111'1111'1111) * 15;
      case 1:
        return dense & std::uint64_t{15} << 4 * below(16);
      case 2:
        return (dense & 0x8888'8888'8888'8888) | 0x7777'7777'7777'7777;
      case 3:
        return below(2) != 0 ? 0x7777'7777'7777'7777 : 0xFFFF'FFFF'FFFF'FFFF;
      case 4:
        return below(4) == 0 ? 0 : dense;
      default:
        return dense;
    }
  }

  void blocks() {
    const bool cancel = below(4) == 0;  // groups cancel in pairs, but for what their scales and a lane differ in
    for (std::size_t i = 0; i < side; ++i) {
      for (Row* row : {&a_[i], &b_[i]}) {
        for (std::uint64_t& codes : row->codes) codes = group();
      }
      for (std::size_t g = 1; cancel && g < groups; g += 2) {
        a_[i].codes[g] = a_[i].codes[g - 1] ^ (below(2) << 4 * below(16));
        b_[i].codes[g] = b_[i].codes[g - 1] ^ 0x8888'8888'8888'8888;
      }
    }
  }

  /// UE4M3 scales.
  void fractions() {
    constexpr std::array<std::uint8_t, 14> edges{0, 1, 2, 6, 7, 8, 9, 0x0F, 0x10, 0x38, 0x76, 0x77, 0x78, 0x7E};
    const std::uint32_t kind = below(6), base = below(127), spread = 1 + below(16);
    const bool same = below(4) == 0;  // all groups of a row alike
    for (std::size_t i = 0; i < side; ++i) {
      for (Row* row : {&a_[i], &b_[i]}) {
        for (std::uint8_t& scale : row->scale) {
          std::uint32_t code = below(127);
          if (kind == 1) code = std::min(base + below(spread), 126U);
          if (kind == 2) code = one_of(edges);
          if (kind == 3) code = below(10);
          if (kind == 4) code = below(4) != 0 ? 0 : below(127);
          if (kind == 5) code = below(2) != 0 ? below(12) : 100 + below(27);
          scale = static_cast<std::uint8_t>(code | below(2) << 7);
        }
        if (same) row->scale.fill(row->scale[0]);
        if (below(64) == 0) row->scale[below(scales)] |= nan_scale;
      }
    }
  }

  /// E8M0 scales: of any size, near 1, at the ends, and such that terms are near the smallest or largest FP32 numbers.
  void powers() {
    const std::uint32_t kind = below(8), base = below(255), spread = 1 + below(48),
                        target = below(3) != 0 ? 90 + below(60) : 350 + below(40);
    const bool same = below(4) == 0;  // both blocks of a row alike
    for (std::size_t i = 0; i < side; ++i) {
      for (Row* row : {&a_[i], &b_[i]}) {
        const std::uint32_t first = std::min(base, target), rest = std::min(target - first, 254U);
        for (std::uint8_t& scale : row->scale) {
          std::uint32_t code = (row == &a_[i] ? first : rest) + below(spread);
          if (kind == 0) code = below(255);
          if (kind == 1) code = 127 - spread / 2 + below(spread);
          if (kind == 2) code = below(2) != 0 ? below(4) : 251 + below(4);
          scale = static_cast<std::uint8_t>(std::min(code, 254U));
        }
        if (same) row->scale.fill(row->scale[0]);
        if (below(64) == 0) row->scale[below(scales)] = nan_scale;
      }
    }
  }

  static MmaOperand operand(const std::array<Row, side>& rows, std::vector<std::uint16_t>& codes,
                            std::vector<std::uint8_t>& all_scales) {
    codes.clear();
    all_scales.clear();
    for (const Row& row : rows) {
      for (std::size_t k = 0; k < 16 * groups; ++k) codes.push_back(row.codes[k / 16] >> k % 16 * 4 & 15);
      all_scales.insert(all_scales.end(), row.scale.begin(), row.scale.end());
    }
    return {.rows = side,
            .k = 16 * groups,
            .codes = codes,
            .block = 16 * groups / scales,
            .scale = e8m0 ? Format::e8m0 : Format::ue4m3,
            .scales = all_scales};
  }

  void outputs() {
    const MmaOperand left = operand(a_, a_codes_, a_scales_), right = operand(b_, b_codes_, b_scales_);
    const std::vector<float> products = mma(left, right, {}, blackwell_64, 1);
    std::vector<float> c(side * side);
    for (std::size_t i = 0; i < c.size(); ++i) {
      int top = e8m0 ? -254 : -12;
      for (std::size_t n = 0; n < scales; ++n) {
        const Scale x = scale_of(a_[i / side].scale[n], right_one), y = scale_of(b_[i % side].scale[n], right_one);
        top = std::max(top, x.label + y.label);
      }
      const bool tiny = top < -100 && below(2) != 0;
      c[i] = std::bit_cast<float>(tiny ? number(bench_.rng(), static_cast<int>(below(24)))
                                       : start(bench_.rng(), top, bits_of(products[i])));
    }
    const std::vector<float> d = mma(left, right, c, blackwell_64, 1);
    for (std::size_t i = 0; i < d.size(); ++i) {
      const Row &a = a_[i / side], &b = b_[i % side];
      check(a, b, bits_of(c[i]), bits_of(d[i]));
      if (i % 4 == 0 && std::isfinite(c[i]) && !std::isnan(d[i])) tell_apart(a, b, bits_of(c[i]), bits_of(d[i]));
    }
  }

  void check(const Row& a, const Row& b, std::uint32_t c, std::uint32_t d) {
    for (std::size_t g = 0; g < groups; ++g) {
      set_bits(dut_->a_i, static_cast<unsigned>(64 * g), 64, a.codes[g]);
      set_bits(dut_->b_i, static_cast<unsigned>(64 * g), 64, b.codes[g]);
    }
    for (std::size_t n = 0; n < scales; ++n) {
      set_bits(dut_->a_scale_i, static_cast<unsigned>(8 * n), 8, a.scale[n]);
      set_bits(dut_->b_scale_i, static_cast<unsigned>(8 * n), 8, b.scale[n]);
    }
    dut_->fp32_i = c;
    pipe_([this, a, b, c, d] { bench_.expect_eq("fp32_o", dut_->fp32_o, d, [&] { return text(a, b, c); }); });
  }

  void tell_apart(const Row& a, const Row& b, std::uint32_t c, std::uint32_t d) {
    bench_.expect_eq(right_one.name, transcription(a, b, c, right_one), d, [&] { return text(a, b, c); });
    for (std::size_t i = 0; i < wrong_ones.size(); ++i) differ_[i] += transcription(a, b, c, wrong_ones[i]) != d;
  }

  static std::string text(const Row& a, const Row& b, std::uint32_t c) {
    std::string text = "C " + hex(c) + ", groups (a, b, scales), 0 first:";
    for (std::size_t g = 0; g < groups; ++g) {
      text += " (" + hex(a.codes[g]) + ", " + hex(b.codes[g]) + ", " + hex(a.scale_of_group(g)) + ", " +
              hex(b.scale_of_group(g)) + ")";
    }
    return text;
  }

  Bench bench_;
  Dut<Vdut> dut_;
  CutPipe<Vdut> pipe_{bench_, dut_};
  std::array<Row, side> a_, b_;
  std::vector<std::uint16_t> a_codes_, b_codes_;
  std::vector<std::uint8_t> a_scales_, b_scales_;
  std::array<std::uint64_t, wrong_ones.size()> differ_{};
};

}  // namespace

int main(int argc, char** argv) { return MmaBench(argc, argv).run(); }
