// SPDX-License-Identifier: Apache-2.0
// ng_dot_mxfp4 (NG_DOT) and ng_mxfp4_mac against golden. The dot product: random blocks under all pairs of scales, then
// lone products under the smallest scales, then scales next to underflow and overflow. The running sum: the same with
// bubbles, restarts and resets, and every finished sum against gemm_sums of one row and one column; build parameter
// NG_PIPELINED.
#include <array>
#include <bit>

#include "../bench.hpp"
#ifdef NG_DOT
#include "../cut_pipe.hpp"
#endif
#include "Vdut.h"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/mac/mxfp4_mac.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

using Codes = std::array<std::uint8_t, 32>;
struct Block {
  Codes a, b;
  std::uint8_t a_scale, b_scale;
};

class Mxfp4Bench {
 public:
  Mxfp4Bench(int argc, char** argv) : bench_(argc, argv, "mxfp4", 200'000), dut_(bench_) {
    for (QuantizedMatrix* m : {&a_, &b_}) {
      m->scheme = Scheme::mxfp4;
      m->rows = 1;
    }
  }

  int run() {
    restart();
    const std::uint64_t pairs = 1U << 16;
    for (std::uint64_t i = 0, step = bench_.sweep_step("pairs of scales", pairs); i < pairs; i += step)
      check(block(static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8)));
    // The smallest sums that there are: a lone product under the smallest scales, down to 2^-256.
    for (std::uint32_t i = 0; i < 9 * 64; ++i) {
      Block x = block(static_cast<std::uint8_t>(i / 64 % 3), static_cast<std::uint8_t>(i / 192));
      const std::uint32_t lane = below(32);
      x.a.fill(0);
      x.a[lane] = static_cast<std::uint8_t>(i % 8 | below(2) << 3);
      x.b[lane] = static_cast<std::uint8_t>(i / 8 % 8);
      check(x);
    }
    ties();
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.0005)) restart();
      // Sums of ordinary blocks, and next to the ends: subnormal below 106, infinite from 372 on.
      const std::uint32_t ends[] = {80 + below(40), 360 + below(16), 250 + below(8), 200 + below(100)};
      const std::uint32_t sum = ends[i / 64 % 4], a = std::min(sum, 30 + below(200));
      check(block(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(std::min(sum - a, 254U))));
    }
    end();
    return bench_.finish();
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return bench_.rng().below(bound); }

  /// Random codes; sparse ones and such that nearly cancel as well as dense ones.
  Block block(std::uint8_t a_scale, std::uint8_t b_scale) {
    Block x{{}, {}, a_scale, b_scale};
    const std::uint32_t kind = below(4), lane = below(32), full = below(2) ? 32 : below(32);
    const auto largest = static_cast<std::uint8_t>(7 | below(2) << 3);
    for (unsigned i = 0; i < 32; ++i) {
      x.a[i] = static_cast<std::uint8_t>(bench_.rng().bits(4));
      x.b[i] = static_cast<std::uint8_t>(bench_.rng().bits(4));
      if (kind == 0 && i != lane) x.a[i] = 0;
      if (kind == 1) x.a[i] = 7, x.b[i] = i < full ? largest : 0;
      if (kind == 2 && i % 2 == 1 && i != lane) {
        x.a[i] = x.a[i - 1] ^ 8;
        x.b[i] = x.b[i - 1];
      }
    }
    if (kind == 1) {  // an odd sum, too
      x.a[lane] = static_cast<std::uint8_t>(bench_.rng().bits(4));
      x.b[lane] = static_cast<std::uint8_t>(bench_.rng().bits(4));
    }
    return x;
  }

  static std::string text(const Block& x) {
    std::string text = "scales " + hex(x.a_scale) + " " + hex(x.b_scale) + ", lanes (a, b), 0 first:";
    for (unsigned i = 0; i < 32; ++i) text += " (" + hex(x.a[i]) + ", " + hex(x.b[i]) + ")";
    return text;
  }

  void drive(const Block& x) {
    for (unsigned i = 0; i < 32; ++i) {
      set_bits(dut_->a_i, 4 * i, 4, x.a[i]);
      set_bits(dut_->b_i, 4 * i, 4, x.b[i]);
    }
    dut_->a_scale_i = x.a_scale;
    dut_->b_scale_i = x.b_scale;
  }

#ifdef NG_DOT
  void restart() {}
  void ties() {}
  void check(const Block& x) {
    drive(x);
    pipe_([this, x] {
      bench_.expect_eq("dot", dut_->fp32_o, mxfp4_dot(x.a, x.b, x.a_scale, x.b_scale), [&] { return text(x); });
    });
  }
  void end() { pipe_.drain(); }
#else
  void end() {}
  void restart() {
    dut_.reset();
    sum_ = shown_ = 0;
    clear();
    bench_.expect_eq("sum", dut_->acc_o, sum_, [] { return std::string("reset"); });
  }

  /// Half of the sum's last place is added or taken away, alone and with a lone bit up to 11 places below (found
  /// 2026-11-22 by an injected fault in the shift of the smaller one).
  void ties() {
    for (std::uint32_t i = 0; i < 12 * 48; ++i) {
      const auto scale = static_cast<std::uint8_t>(100 + below(60));
      check(exactly(1 + below(i / 24 % 2 ? 4000 : 3), scale, scale, below(2)), true, true);
      // In place 2^-n of the sum's significand units of 2^-2 under these scales: 24 + i % 12 places below the top.
      const std::uint32_t gap = i % 12;
      const int scales = static_cast<int>(sum_ >> 23 & 0xFF) - 127 - 24 - static_cast<int>(gap) + 2 + 254;
      const auto a = static_cast<std::uint8_t>(scales / 2), b = static_cast<std::uint8_t>(scales - scales / 2);
      check(exactly((1U << gap) + (i / 12 % 2), a, b, below(2)), true, false);
    }
    // The sum has few bits, one of them far below, and a small block under large scales leads.
    for (std::uint32_t i = 0; i < 6000; ++i) {
      const auto a = static_cast<std::uint8_t>(100 + below(40)), b = static_cast<std::uint8_t>(100 + below(40));
      const std::uint32_t few = (1U << below(12)) | (1U << below(12)) | (below(2) << below(12));
      check(exactly(few, a, b, below(2)), true, true);
      check(exactly(1 + below(2), static_cast<std::uint8_t>(a - 1 - below(14)), b, below(2)), true, false);
      check(exactly(1 + below(4), static_cast<std::uint8_t>(a + below(26)), b, below(2)), true, false);
    }
  }

  /// A block with this sum of products in quarters, up to 4608, negative or not.
  Block exactly(std::uint32_t quarters, std::uint8_t a_scale, std::uint8_t b_scale, bool negative) const {
    constexpr std::uint8_t factors[] = {12, 8, 6, 4, 3, 2, 1};  // 2 x the magnitudes of E2M1, codes 7 to 1
    Block x{{}, {}, a_scale, b_scale};
    for (unsigned lane = 0; quarters != 0 && lane < 32; ++lane) {
      std::uint32_t best = 0;
      for (unsigned i = 0; i < 7; ++i) {
        for (unsigned j = i; j < 7; ++j) {
          const std::uint32_t product = std::uint32_t{factors[i]} * factors[j];
          if (product > quarters || product <= best) continue;
          best = product;
          x.a[lane] = static_cast<std::uint8_t>((7 - i) | (negative ? 8 : 0));
          x.b[lane] = static_cast<std::uint8_t>(7 - j);
        }
      }
      quarters -= best;
    }
    return x;
  }

  void check(const Block& x) { check(x, bench_.rng().chance(0.8), bench_.rng().chance(0.1)); }
  void check(const Block& x, bool valid, bool first) {
    const std::uint32_t before = shown_ = sum_;
    drive(x);
    dut_->valid_i = valid;
    dut_->first_i = first;
    dut_.tick();
    bench_.vector();
    if (valid) {
      if (first) finish_sum(before);
      sum_ = mx_add(first ? 0 : before, mxfp4_dot(x.a, x.b, x.a_scale, x.b_scale));
      a_.codes.insert(a_.codes.end(), x.a.begin(), x.a.end());
      b_.codes.insert(b_.codes.end(), x.b.begin(), x.b.end());
      a_.scales.push_back(x.a_scale);
      b_.scales.push_back(x.b_scale);
    }
    if (!NG_PIPELINED) shown_ = sum_;
    bench_.expect_eq("sum", dut_->acc_o, shown_, [&] {
      return "sum before " + hex(before) + (valid ? " valid" : "") + (first ? " first" : "") + ", " + text(x);
    });
  }

  /// The sum that ended, against the product of the row and the column it stands for.
  void finish_sum(std::uint32_t sum) {
    if (!a_.scales.empty() && ++sums_ % 16 == 0) {
      a_.k = a_.k_padded = b_.k = b_.k_padded = a_.codes.size();
      bench_.expect_eq("gemm", sum, fp32_bits(gemm_sums(a_, b_, 1).at(0)),
                       [&] { return "a sum of " + dec(static_cast<__int128>(a_.scales.size())) + " blocks"; });
    }
    clear();
  }
  void clear() {
    for (QuantizedMatrix* m : {&a_, &b_}) {
      m->codes.clear();
      m->scales.clear();
    }
  }
#endif

  Bench bench_;
  Dut<Vdut> dut_;
#ifdef NG_DOT
  CutPipe<Vdut> pipe_{bench_, dut_};
#endif
  QuantizedMatrix a_, b_;
  std::uint32_t sum_ = 0;    // with the block of the last cycle
  std::uint32_t shown_ = 0;  // what the unit shows
  std::uint64_t sums_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return Mxfp4Bench(argc, argv).run(); }
