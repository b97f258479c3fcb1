// SPDX-License-Identifier: Apache-2.0
// ng_div_fp32 against the host's quotient, and against the quotient of the significands as an integer with its sticky
// bit, rounded by round_pack: all pairs of special values, all pairs of exponents, random pairs of several kinds, under
// bubbles, stalls and resets; cycle for cycle against the cycle model. Build parameter: NG_SATURATE.
#include <bit>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_pack.hpp"
#include "systemc/mac/div_fp32_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr bool saturate = NG_SATURATE != 0;

class DivFp32Bench {
 public:
  DivFp32Bench(int argc, char** argv)
      : bench_(argc, argv, "div_fp32", 200'000), dut_(bench_), output_(bench_, "output") {}

  int run() {
    reset();
    const std::vector<std::uint32_t> values = special_values();
    for (const std::uint32_t a : values) {
      for (const std::uint32_t b : values) offer(a, b);
    }
    const std::uint64_t exponents = std::uint64_t{1} << 16;
    for (std::uint64_t e = 0, step = bench_.sweep_step("exponents", exponents); e < exponents; e += step) {
      offer(number(static_cast<std::uint32_t>(e) & 0xFF, mantissa()),
            number(static_cast<std::uint32_t>(e >> 8), mantissa()));
    }
    drain(0, 0);
    for (std::uint64_t i = 0; i < bench_.budget();) {
      const double bubble = bench_.rng().below(3) / 4.0, stall = bench_.rng().below(4) / 5.0;
      for (int n = 0; n < 24; ++n, ++i) random(i % 6);
      drain(bubble, stall);
      if (bench_.rng().chance(0.02)) {
        random(1);
        for (std::uint32_t cycles = bench_.rng().below(40); cycles > 0; --cycles) cycle(0, 0.5);
        reset();
      }
    }
    bench_.expect(output_.beats() > 10 && output_.stalls() > 10,
                  [] { return "hardly a quotient, or none ever waited"; });
    return bench_.finish();
  }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

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
    return static_cast<std::uint32_t>(bench_.rng().bits(1)) << 31 | biased << 23 | (mantissa & 0x7FFFFF);
  }
  std::uint32_t mantissa() { return static_cast<std::uint32_t>(bench_.rng().bits(23)); }
  std::uint32_t below(std::uint32_t bound) { return bench_.rng().below(bound); }

  void random(std::uint64_t kind) {
    switch (kind) {
      case 0:  // any codes
        return offer(static_cast<std::uint32_t>(bench_.rng().bits(32)),
                     static_cast<std::uint32_t>(bench_.rng().bits(32)));
      case 1:  // ordinary numbers
        return offer(number(64 + below(128), mantissa()), number(64 + below(128), mantissa()));
      case 2: {  // subnormal results, and around the smallest normal number
        const std::uint32_t b = 150 + below(105), d = 126 + below(27);
        return offer(number(b > d ? b - d : 0, mantissa()), number(b, mantissa()));
      }
      case 3: {  // subnormal operands
        const std::uint32_t small = number(0, mantissa() >> below(23)), other = number(below(255), mantissa());
        return below(2) ? offer(small, other) : offer(other, small);
      }
      case 4: {  // quotients that are exact, ties among subnormal ones: a is the product of few bits
        const std::uint32_t bits = 1 + below(23);
        const auto b = static_cast<std::uint32_t>(bench_.rng().bits(24 - bits) | 1);
        const auto q = static_cast<std::uint32_t>(bench_.rng().bits(bits) | 1);
        const int e = static_cast<int>(below(300)) - 250, eb = static_cast<int>(below(120)) - 60;
        return offer(std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(q * b), std::min(e + eb, 100))),
                     std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(b), eb)));
      }
      default: {  // next to a tie: a is what a quotient of 25 bits times b is rounded to
        const double b = static_cast<double>(mantissa() | 0x800000),
                     q = static_cast<double>(mantissa() | 0x800000) + 0.5;
        const auto a = static_cast<float>(q * b);
        return offer(std::bit_cast<std::uint32_t>(a) + below(3) - 1,
                     std::bit_cast<std::uint32_t>(static_cast<float>(b)));
      }
    }
  }

  void offer(std::uint32_t a, std::uint32_t b) {
    pairs_.push_back({a, b});
    if (pairs_.size() >= 100) drain(0, 0);
  }

  void reset() {
    dut_->valid_i = 0;
    dut_->ready_i = 0;
    dut_.reset(0);
    core_.reset();
    pairs_.clear();
    taken_.clear();
    output_.clear();
    outputs();
    dut_.reset();
  }

  void drain(double bubble, double stall) {
    while (!pairs_.empty() || !taken_.empty()) cycle(bubble, stall);
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, unsigned{core_.ready()}, model);
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{core_.valid()}, model);
    if (!dut_->valid_o) return;
    bench_.expect(!taken_.empty(), [] { return "a quotient without a pair"; });
    if (taken_.empty()) return;
    const auto inputs = [&] { return "a " + hex(taken_.front().first) + " b " + hex(taken_.front().second); };
    bench_.expect_eq("quotient", dut_->y_o, core_.y(), inputs);
    bench_.expect_eq("quotient, by integers", dut_->y_o, expected(taken_.front()), inputs);
  }

  void cycle(double bubble, double stall) {
    // A pair that was offered stays offered.
    offered_ = !pairs_.empty() && (offered_ || bubble == 0 || !bench_.rng().chance(bubble));
    const Pair noise{static_cast<std::uint32_t>(bench_.rng().bits(32)),
                     static_cast<std::uint32_t>(bench_.rng().bits(32))};
    const auto [a, b] = offered_ ? pairs_.front() : noise;
    dut_->valid_i = offered_;
    dut_->a_i = a;
    dut_->b_i = b;
    dut_->ready_i = stall == 0 || !bench_.rng().chance(stall);
    dut_.eval();
    outputs();
    output_.sample(dut_->valid_o, dut_->ready_i, dut_->y_o);
    output_.probe_independence(dut_, dut_->ready_i, dut_->valid_o);
    const bool taken = offered_ && dut_->ready_o, given = dut_->valid_o && dut_->ready_i;
    core_.step(offered_, a, b, dut_->ready_i);
    dut_.tick();
    if (given && !taken_.empty()) taken_.pop_front();
    if (taken) {
      bench_.vector();
      taken_.push_back({a, b});
      pairs_.pop_front();
      offered_ = false;
    }
    outputs();
  }

  Bench bench_;
  Dut<Vdut> dut_;
  HandshakeChecker output_;
  systemc::DivFp32Core<saturate> core_;
  std::deque<Pair> pairs_, taken_;
  bool offered_ = false;
};

}  // namespace

int main(int argc, char** argv) { return DivFp32Bench(argc, argv).run(); }
