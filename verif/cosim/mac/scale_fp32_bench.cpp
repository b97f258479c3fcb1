// SPDX-License-Identifier: Apache-2.0
// ng_scale_fp32 against epilogue(), which is the host's product, and against the exact product in double, rounded by
// encode(): all pairs of special values, all pairs of exponents, then random operands of several kinds in turn.
#include <bit>
#include <cmath>
#include <vector>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/gemm.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

class ScaleFp32Bench {
 public:
  ScaleFp32Bench(int argc, char** argv)
      : bench_(argc, argv, "scale_fp32", 10'000'000), dut_(bench_), pipe_(bench_, dut_) {}

  int run() {
    const std::vector<std::uint32_t> values = special_values();
    for (const std::uint32_t a : values) {
      for (const std::uint32_t b : values) check(a, b);
    }
    const std::uint64_t exponents = std::uint64_t{1} << 16;
    for (std::uint64_t e = 0, step = bench_.sweep_step("exponents", exponents); e < exponents; e += step) {
      check(number(static_cast<std::uint32_t>(e) & 0xFF, mantissa()),
            number(static_cast<std::uint32_t>(e >> 8), mantissa()));
    }
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) random(i % 10);
    pipe_.drain();
    return bench_.finish();
  }

 private:
  void check(std::uint32_t a, std::uint32_t b) {
    dut_->a_i = a;
    dut_->b_i = b;
    pipe_([this, a, b] {
      const auto inputs = [&] { return "a " + hex(a) + " b " + hex(b); };
      const auto x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
      bench_.expect_eq("product", dut_->y_o, std::bit_cast<std::uint32_t>(epilogue(x, y)), inputs);
      const double exact = static_cast<double>(x) * static_cast<double>(y);  // 48 bits, exponent above -300
      const std::uint32_t expected =
          std::isnan(exact) ? 0x7FC00000 : encode(fp32_, exact, {.overflow = Overflow::ieee});
      bench_.expect_eq("product, exact and rounded once", dut_->y_o, expected, inputs);
    });
  }

  std::vector<std::uint32_t> special_values() {
    // Zero, subnormals, the smallest and largest normals, powers whose products meet the ends of the range, NaNs.
    std::vector<std::uint32_t> values = {
        0,          1,          2,          3,          0x007FFFFF, 0x007FFFFE, 0x00400000, 0x00400001,
        0x00555555, 0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000, 0x1F800000, 0x20000000, 0x1FFFFFFF,
        0x33800000, 0x34000000, 0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FFFFFFF, 0x40000000,
        0x40400000, 0x5F000000, 0x5F7FFFFF, 0x5F800000, 0x7F000000, 0x7F7FFFFE, 0x7F7FFFFF, 0x7F800000,
        0x7F800001, 0x7FA00000, 0x7FBFFFFF, 0x7FC00000, 0x7FC00001, 0x7FFFFFFF};
    for (int bit = 2; bit < 23; ++bit) values.push_back(1U << bit);                // subnormal powers
    for (int bit = 0; bit < 23; ++bit) values.push_back(0x3F800000U | 1U << bit);  // 1 and one more bit
    const std::size_t positive = values.size();
    for (std::size_t i = 0; i < positive; ++i) values.push_back(values[i] | 0x80000000U);
    return values;
  }

  /// A number of random sign; exponent 0 is subnormal, 255 special.
  std::uint32_t number(std::uint32_t biased, std::uint32_t mantissa) {
    return static_cast<std::uint32_t>(bench_.rng().bits(1)) << 31 | biased << 23 | (mantissa & 0x7FFFFF);
  }
  std::uint32_t mantissa() { return static_cast<std::uint32_t>(bench_.rng().bits(23)); }
  std::uint32_t below(int bound) { return bench_.rng().below(static_cast<std::uint32_t>(bound)); }
  /// Two biased exponents of normal numbers with this sum, 2 to 508.
  void exponents(int sum, std::uint32_t& a, std::uint32_t& b) {
    const int least = std::max(1, sum - 254), most = std::min(254, sum - 1);
    a = static_cast<std::uint32_t>(least) + below(most - least + 1);
    b = static_cast<std::uint32_t>(sum) - a;
  }

  void random(std::uint64_t kind) {
    std::uint32_t ea = 0, eb = 0;
    switch (kind) {
      case 0:  // any codes
        return check(static_cast<std::uint32_t>(bench_.rng().bits(32)),
                     static_cast<std::uint32_t>(bench_.rng().bits(32)));
      case 1:  // ordinary numbers
        return check(number(64 + below(128), mantissa()), number(64 + below(128), mantissa()));
      case 2:  // around the largest number
        exponents(379 + static_cast<int>(below(4)), ea, eb);
        return check(number(ea, mantissa()), number(eb, mantissa()));
      case 3:  // around the smallest normal and all subnormal results
        exponents(100 + static_cast<int>(below(32)), ea, eb);
        return check(number(ea, mantissa()), number(eb, mantissa()));
      case 4:  // a subnormal operand, of any size, on either side
      case 5: {
        const std::uint32_t small = number(0, mantissa() >> below(23));
        const std::uint32_t other = number(below(2) ? below(255) : 120 + below(135), mantissa());
        return kind == 4 ? check(small, other) : check(other, small);
      }
      case 6: {  // ties: the product's lowest one is the guard bit, of a normal or a subnormal result
        const std::uint32_t a_zeros = below(23), b_zeros = below(23);
        const std::uint32_t a = odd_above(a_zeros), b = odd_above(b_zeros);
        const int top = 63 - std::countl_zero(std::uint64_t{a} * b);            // 46 or 47
        const int lost = static_cast<int>(a_zeros + b_zeros) + 1 - (top - 23);  // of the last place, below FP32's usual
        // Biased exponents add up to 127 + the result's; a result of exponent -126 - n has n bits less.
        if (lost > 0) {
          exponents(127 + 1 - (top - 46) - lost, ea, eb);
        } else {
          exponents(140 + static_cast<int>(below(200)), ea, eb);
        }
        return check(number(ea, a), number(eb, b));
      }
      case 7: {  // subnormal results that are ties but for one bit, anywhere below (found 2026-11-22 by an injected
                 // fault in a stage of the shift): a b = ... 1 0 ... 0 1, the upper one worth half of the last place
        const std::uint32_t gap = 1 + below(23);
        const auto a = static_cast<std::uint32_t>(bench_.rng().bits(1 + below(24)) | 1);
        std::uint32_t inverse = a;  // modulo 2^32: right in 3 bits, then 6, 12, 24, 48
        for (int i = 0; i < 4; ++i) inverse *= 2 - a * inverse;
        const std::uint32_t b = ((1U << gap) + 1) * inverse & ((2U << gap) - 1);
        const int exponent = -150 - static_cast<int>(gap), half = exponent / 2;
        return check(std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(a), half)),
                     std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(b), exponent - half)));
      }
      case 8: {  // a subnormal operand whose product needs shifts up to any limit (found 2026-11-22 by an injected
                 // fault)
        const std::uint32_t zeros = below(23), top = 0x400000U >> zeros;
        const std::uint32_t small = number(0, top | (mantissa() & (top - 1)));
        const std::uint32_t other = number(124 + zeros + below(40), mantissa());
        return below(2) ? check(small, other) : check(other, small);
      }
      default: {  // next to all ones: rounding carries into the exponent, also up to infinity and out of the subnormals
        const int sums[] = {127, 128, 129, 254, 380, 381, 382};
        exponents(sums[below(7)], ea, eb);
        const std::uint32_t a = mantissa() | 0x800000;
        const std::uint64_t b = ((std::uint64_t{1} << 47) - 1) / a + below(5) - 2;
        return check(number(ea, a), number(eb, static_cast<std::uint32_t>(b)));
      }
    }
  }

  /// A 24-bit significand with exactly this many zeros at its end.
  std::uint32_t odd_above(std::uint32_t zeros) { return 0x800000 | ((mantissa() | 1) << zeros & 0x7FFFFF); }

  const FormatDesc& fp32_ = desc(Format::fp32);
  Bench bench_;
  Dut<Vdut> dut_;
  CutPipe<Vdut> pipe_;
};

}  // namespace

int main(int argc, char** argv) { return ScaleFp32Bench(argc, argv).run(); }
