// SPDX-License-Identifier: Apache-2.0
// ng_div_fp32 against the host's quotient, and against the quotient of the significands as an integer with its sticky
// bit, rounded by round_pack: all pairs of special values, all pairs of exponents, random pairs of several kinds, under
// bubbles, stalls and resets; cycle for cycle against the cycle model. Build parameter: NG_SATURATE.
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "../serial_bench.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_pack.hpp"
#include "systemc/mac/div_fp32_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr bool saturate = NG_SATURATE != 0;

using Pair = std::pair<std::uint32_t, std::uint32_t>;

class DivFp32Bench : SerialBench<DivFp32Bench, Vdut, systemc::DivFp32Core<saturate>, Pair> {
  friend SerialBench;

 public:
  DivFp32Bench(int argc, char** argv) : SerialBench(argc, argv, "div_fp32", 200'000) {}

  int run() {
    reset();
    const std::vector<std::uint32_t> values = special_values();
    for (const std::uint32_t a : values) {
      for (const std::uint32_t b : values) offer({a, b});
    }
    const std::uint64_t exponents = std::uint64_t{1} << 16;
    for (std::uint64_t e = 0, step = bench_.sweep_step("exponents", exponents); e < exponents; e += step) {
      offer({number(static_cast<std::uint32_t>(e) & 0xFF, mantissa()),
             number(static_cast<std::uint32_t>(e >> 8), mantissa())});
    }
    // Subnormal quotients that are cut off at a tie, to an even and to an odd one, and at a tie and one bit.
    for (std::uint32_t cut = 1; cut < 25; ++cut) {
      const std::uint32_t tie = 0x800000 | 1U << (cut - 1) | 1U << std::min(cut, 23U);
      offer({number(74 - cut, tie), number(200, 0)});
      offer({number(74 - cut, 0x800000 | 1U << (cut - 1)), number(200, 0)});
      for (std::uint32_t bit = 0; bit < cut; ++bit) offer({number(74 - cut, tie | 1U << bit), number(200, 0)});
    }
    // Powers of two at each distance below the least normal number.
    for (std::uint32_t e = 127; e < 255; ++e) offer({0x00800000, number(e, 0)});
    for (std::uint32_t bit = 0; bit < 23; ++bit) offer({1U << bit, number(254, 0)});
    // Zeros, subnormals, infinities and NaNs that differ in one bit, on either side.
    for (std::uint32_t bit = 0; bit < 23; ++bit) {
      for (const std::uint32_t biased : {0U, 255U}) {
        offer({number(127, 0), number(biased, 1U << bit)});
        offer({number(biased, 1U << bit), number(127, 0)});
      }
    }
    drain(0, 0);
    for (std::uint64_t i = 0; i < bench_.budget();) {
      for (int n = 0; n < 24; ++n, ++i) offer(random(i % 7));
      drain_or_reset(0.02, 40, [&] { return random(1); });
    }
    return finish();
  }

 private:
  /// By the definition: 40 more bits than a significand has, and whether there is more.
  static std::uint32_t expected(const Pair& pair) {
    const auto [a, b] = pair;
    const bool negative = (a ^ b) >> 31;
    const auto magnitude_a = a & 0x7FFFFFFF, magnitude_b = b & 0x7FFFFFFF;
    constexpr std::uint32_t inf = 0x7F800000;
    const FormatDesc& fp32 = desc(Format::fp32);
    const RoundOptions options{.overflow = saturate ? Overflow::saturate : Overflow::ieee};
    if (magnitude_a > inf || magnitude_b > inf || (magnitude_a == inf && magnitude_b == inf) ||
        (magnitude_a == 0 && magnitude_b == 0))
      return encode_nan(fp32, false, options.overflow);
    const std::uint32_t sign = negative ? 0x80000000 : 0;
    if (magnitude_a == inf || magnitude_b == 0) return sign | (saturate ? inf - 1 : inf);
    if (magnitude_a == 0 || magnitude_b == inf) return sign;
    const auto significand = [](std::uint32_t m) { return m >> 23 ? (m & 0x7FFFFF) | 0x800000 : m; };
    const auto exponent = [](std::uint32_t m) { return static_cast<int>(m >> 23 ? m >> 23 : 1); };
    std::uint64_t dividend = significand(magnitude_a), divisor = significand(magnitude_b);
    const int up = std::countl_zero(dividend), down = std::countr_zero(divisor);
    dividend <<= up;
    divisor >>= down;
    // The quotient has 40 bits or more; FP32 looks at no bit below.
    const std::uint64_t quotient = dividend / divisor, sticky = dividend % divisor != 0;
    return round_pack(fp32, negative, exponent(magnitude_a) - exponent(magnitude_b) - up - down, quotient | sticky,
                      options);
  }

  std::vector<std::uint32_t> special_values() {
    std::vector<std::uint32_t> values = {
        0,          1,          2,          3,          0x007FFFFF, 0x007FFFFE, 0x00400000, 0x00400001, 0x00555555,
        0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000, 0x1F800000, 0x20000000, 0x33800000, 0x34000000, 0x3F000000,
        0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FFFFFFF, 0x40000000, 0x40400000, 0x45280000, 0x5F7FFFFF, 0x5F800000,
        0x7F000000, 0x7F7FFFFE, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FA00000, 0x7FC00000, 0x7FFFFFFF};
    const std::size_t positive = values.size();
    for (std::size_t i = 0; i < positive; ++i) values.push_back(values[i] | 0x80000000U);
    return values;
  }

  std::uint32_t number(std::uint32_t biased, std::uint32_t mantissa) {
    return bits(1) << 31 | biased << 23 | (mantissa & 0x7FFFFF);
  }
  std::uint32_t mantissa() { return bits(23); }

  Pair random(std::uint64_t kind) {
    switch (kind) {
      case 0:  // any codes
        return noise();
      case 1:  // ordinary numbers
        return {number(64 + below(128), mantissa()), number(64 + below(128), mantissa())};
      case 2: {  // subnormal results, and around the smallest normal number
        const std::uint32_t b = 150 + below(105), d = 126 + below(27);
        return {number(b > d ? b - d : 0, mantissa()), number(b, mantissa())};
      }
      case 3: {  // subnormal operands
        const std::uint32_t small = number(0, mantissa() >> below(23)), other = number(below(255), mantissa());
        return below(2) ? Pair{small, other} : Pair{other, small};
      }
      case 4: {  // quotients that are exact, ties among subnormal ones: a is the product of few bits
        const std::uint32_t n = 1 + below(23);
        const std::uint32_t b = bits(24 - n) | 1, q = bits(n) | 1;
        const int e = static_cast<int>(below(300)) - 250, eb = static_cast<int>(below(120)) - 60;
        return {std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(q * b), std::min(e + eb, 100))),
                std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(b), eb))};
      }
      case 5: {  // behind a quotient of 25 bits that is a tie, a remainder of a single bit
        const std::uint32_t bit = below(23);
        std::uint32_t b = 0, q = 0;
        while (q >> 24 == 0) {
          // q b + 1 is a multiple of 2^(25 - bit): q is -1 / b, modulo that.
          b = 1U << (23 - bit) | bits(24 - bit) % (1U << (23 - bit)) | 3;
          std::uint32_t inverse = b;
          for (int step = 0; step < 4; ++step) inverse *= 2 - b * inverse;
          q = -inverse % (1U << (25 - bit)) | (bit ? 1U << 24 | bits(bit) << (25 - bit) : 0);
          q %= 1U << 25;
        }
        const std::uint64_t dividend = (std::uint64_t{q} * b + 1) << bit;
        const auto a = static_cast<std::uint32_t>(dividend >> (dividend >> 48 ? 25 : 24));
        return {number(64 + below(128), a), number(64 + below(128), b << bit)};
      }
      default: {  // next to a tie: a is what a quotient of 25 bits times b is rounded to
        const double b = static_cast<double>(mantissa() | 0x800000),
                     q = static_cast<double>(mantissa() | 0x800000) + 0.5;
        const auto a = static_cast<float>(q * b);
        return {std::bit_cast<std::uint32_t>(a) + below(3) - 1, std::bit_cast<std::uint32_t>(static_cast<float>(b))};
      }
    }
  }

  Pair noise() { return {bits(32), bits(32)}; }
  void drive(const Pair& pair) {
    dut_->a_i = pair.first;
    dut_->b_i = pair.second;
  }
  void step(bool offered, const Pair& pair, bool ready) { core_.step(offered, pair.first, pair.second, ready); }
  void sample() { output_.sample(dut_->valid_o, dut_->ready_i, dut_->y_o); }
  void check(const Pair& pair) {
    const auto inputs = [&] { return "a " + hex(pair.first) + " b " + hex(pair.second); };
    bench_.expect_eq("quotient", dut_->y_o, core_.y(), inputs);
    bench_.expect_eq("quotient, by integers", dut_->y_o, expected(pair), inputs);
  }
};

}  // namespace

int main(int argc, char** argv) { return DivFp32Bench(argc, argv).run(); }
