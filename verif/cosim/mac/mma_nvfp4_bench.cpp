// SPDX-License-Identifier: Apache-2.0
// ng_mma_nvfp4 against golden, 16 x 16 outputs of an instruction at a time: all pairs of scales, then random blocks of
// several kinds under scales of several kinds, with C next to the largest label, next to what cancels the products, of
// any exponent, and special. A transcription of the rule in integers runs beside it; each of its wrong variants must
// differ somewhere, or the stimulus would be too weak to tell them apart. Build parameter: NG_CUTS.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/accumulate.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr std::size_t side = 16, groups = 4;

/// 64 codes, a group of 16 in a word, and the scale of each group.
struct Row {
  std::array<std::uint64_t, groups> codes{};
  std::array<std::uint8_t, groups> scales{};
};

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

struct Variant {
  const char* name;
  int bits;
  bool nearest, hidden;  ///< rounded to nearest even; subnormal scales with a hidden one
};
constexpr Variant right_one{"transcription", 35, false, false};
constexpr std::array<Variant, 5> wrong_ones{{
    {"34 bits", 34, false, false},
    {"36 bits", 36, false, false},
    {"rounded to nearest", 35, true, false},
    {"nothing cut off", 90, false, false},
    {"a hidden one in subnormal scales", 35, false, true},
}};

struct Scale {
  int significand, label;
};

Scale scale_of(std::uint8_t code, const Variant& v) {
  const int field = code >> 3 & 15, mantissa = code & 7;
  if (field == 0 && mantissa == 0) return {0, -126};
  return {mantissa | (field != 0 || v.hidden ? 8 : 0), std::max(field, 1) - 7};
}

/// magnitude * 2^distance toward zero, times the sign.
__int128 moved(std::int64_t x, int distance) {
  const __int128 magnitude = x < 0 ? -x : x;
  const __int128 result = distance >= 0 ? magnitude << distance : distance > -127 ? magnitude >> -distance : 0;
  return x < 0 ? -result : result;
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
std::uint32_t transcription(const Row& a, const Row& b, std::uint32_t c, const Variant& v) {
  const int field = static_cast<int>(c >> 23 & 255);
  const std::int64_t magnitude = (c & 0x7FFFFF) | (field != 0 ? 0x800000 : 0);
  const int c_label = std::max(field, 1) - 127;
  int top = c_label;
  std::array<std::int64_t, groups> terms;
  std::array<int, groups> labels;
  for (std::size_t g = 0; g < groups; ++g) {
    const Scale x = scale_of(a.scales[g], v), y = scale_of(b.scales[g], v);
    terms[g] = dot_of(a.codes[g], b.codes[g]) * x.significand * y.significand;
    labels[g] = x.label + y.label;
    top = std::max(top, labels[g]);
  }
  __int128 total = moved(c >> 31 != 0 ? -magnitude : magnitude, c_label - top + v.bits - 23);
  for (std::size_t g = 0; g < groups; ++g) total += moved(terms[g], labels[g] - top + v.bits - 8);
  if (total == 0) return 0;
  const std::uint32_t sign = total < 0 ? 0x80000000U : 0;
  auto rest = static_cast<unsigned __int128>(total < 0 ? -total : total);
  int exponent = top - v.bits;  // of the lowest place
  for (const int kept = v.nearest ? 26 : 24; rest >> kept != 0; ++exponent) {
    rest = rest >> 1 | (v.nearest ? rest & 1 : 0);  // the lowest place is sticky
  }
  const int drop = std::bit_width(static_cast<std::uint64_t>(rest)) - 24;  // of the nearest one only
  if (drop > 0) {
    const std::uint64_t down = static_cast<std::uint64_t>(rest) >> drop,
                        low = static_cast<std::uint64_t>(rest) % (1U << drop);
    rest = down + (2 * low + (down & 1) > 1U << drop ? 1 : 0);
    exponent += drop;
  }
  return bits_of(static_cast<float>(std::ldexp(static_cast<double>(rest), exponent))) | sign;
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
        for (std::size_t g = 0; g < groups; ++g) {
          a_[i].scales[g] = static_cast<std::uint8_t>(tile / side * side + i);
          b_[i].scales[g] = static_cast<std::uint8_t>(tile % side * side + i);
        }
      }
      outputs();
    }
    for (std::uint64_t done = 0; done < bench_.budget(); done += side * side) {
      blocks();
      scales();
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

  void scales() {
    constexpr std::array<std::uint8_t, 14> edges{0, 1, 2, 6, 7, 8, 9, 0x0F, 0x10, 0x38, 0x76, 0x77, 0x78, 0x7E};
    const std::uint32_t kind = below(6), base = below(127), spread = 1 + below(16);
    const bool same = below(4) == 0;  // all groups of a row alike
    for (std::size_t i = 0; i < side; ++i) {
      for (Row* row : {&a_[i], &b_[i]}) {
        for (std::uint8_t& scale : row->scales) {
          std::uint32_t code = below(127);
          if (kind == 1) code = std::min(base + below(spread), 126U);
          if (kind == 2) code = one_of(edges);
          if (kind == 3) code = below(10);
          if (kind == 4) code = below(4) != 0 ? 0 : below(127);
          if (kind == 5) code = below(2) != 0 ? below(12) : 100 + below(27);
          scale = static_cast<std::uint8_t>(code | below(2) << 7);
        }
        if (same) row->scales.fill(row->scales[0]);
        if (below(64) == 0) row->scales[below(groups)] |= 127;  // NaN
      }
    }
  }

  /// A number with this exponent field, with few mantissa bits, many, or as they come.
  std::uint32_t number(int field) {
    std::uint32_t mantissa = static_cast<std::uint32_t>(bench_.rng().bits(23));
    const std::uint32_t kind = below(5);
    if (kind == 0) mantissa = 0x7FFFFF ^ (below(2) << below(23));
    if (kind == 1) mantissa = below(2) << below(23);
    if (kind == 2) mantissa &= 0x7FFFFFU << below(23);
    return below(2) << 31 | static_cast<std::uint32_t>(std::clamp(field, 0, 254)) << 23 | mantissa;
  }

  /// C beside groups whose largest label is `top` and whose products alone give `products`.
  std::uint32_t start(int top, std::uint32_t products) {
    const std::uint32_t sign = below(2) << 31;
    switch (below(16)) {
      case 0:
        return sign;
      case 1:
        return number(static_cast<int>(below(255)));
      case 2:
        return number(below(2) != 0 ? 0 : static_cast<int>(below(4)));
      case 3:
        switch (below(4)) {
          case 0:
            return sign | 0x7F800000;
          case 1:
            return sign | 0x7F800000 | 1U << below(23);
          case 2:
            return number(190 + static_cast<int>(below(4)));  // terms end to count
          default:
            return number(254);
        }
      case 4:
      case 5:
        return products ^ 0x80000000;
      case 6:
      case 7:
        return (products ^ 0x80000000) + (below(2) << below(26)) - (below(2) << below(26));
      case 8:
      case 9:
        return number(top + 127 + 20 + static_cast<int>(below(32)));
      default:
        return number(top + 127 - 14 + static_cast<int>(below(40)));
    }
  }

  static MmaOperand operand(const std::array<Row, side>& rows, std::vector<std::uint16_t>& codes,
                            std::vector<std::uint8_t>& scales) {
    codes.clear();
    scales.clear();
    for (const Row& row : rows) {
      for (std::size_t k = 0; k < 16 * groups; ++k) codes.push_back(row.codes[k / 16] >> k % 16 * 4 & 15);
      scales.insert(scales.end(), row.scales.begin(), row.scales.end());
    }
    return {.rows = side, .k = 16 * groups, .codes = codes, .block = 16, .scales = scales};
  }

  void outputs() {
    const MmaOperand left = operand(a_, a_codes_, a_scales_), right = operand(b_, b_codes_, b_scales_);
    const std::vector<float> products = mma(left, right, {}, blackwell_64, 1);
    std::vector<float> c(side * side);
    for (std::size_t i = 0; i < c.size(); ++i) {
      int top = -12;
      for (std::size_t g = 0; g < groups; ++g) {
        const Scale x = scale_of(a_[i / side].scales[g], right_one), y = scale_of(b_[i % side].scales[g], right_one);
        top = std::max(top, x.label + y.label);
      }
      c[i] = std::bit_cast<float>(start(top, bits_of(products[i])));
    }
    const std::vector<float> d = mma(left, right, c, blackwell_64, 1);
    for (std::size_t i = 0; i < d.size(); ++i) {
      const Row &a = a_[i / side], &b = b_[i % side];
      check(a, b, bits_of(c[i]), bits_of(d[i]));
      if (i % 4 == 0 && std::isfinite(d[i])) tell_apart(a, b, bits_of(c[i]), bits_of(d[i]));
    }
  }

  void check(const Row& a, const Row& b, std::uint32_t c, std::uint32_t d) {
    for (std::size_t g = 0; g < groups; ++g) {
      set_bits(dut_->a_i, static_cast<unsigned>(64 * g), 64, a.codes[g]);
      set_bits(dut_->b_i, static_cast<unsigned>(64 * g), 64, b.codes[g]);
      set_bits(dut_->a_scale_i, static_cast<unsigned>(8 * g), 8, a.scales[g]);
      set_bits(dut_->b_scale_i, static_cast<unsigned>(8 * g), 8, b.scales[g]);
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
      text += " (" + hex(a.codes[g]) + ", " + hex(b.codes[g]) + ", " + hex(a.scales[g]) + ", " + hex(b.scales[g]) + ")";
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
