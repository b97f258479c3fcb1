// SPDX-License-Identifier: Apache-2.0
// ng_rsqrt_fp32 against the golden function, and against the squares of the two limits between which a number rounds to
// the result, as integers: special values, all exponents, significands of two binades (all, if the budget covers them),
// random numbers of several kinds, under bubbles, stalls and resets; cycle for cycle against the cycle model.
#include <bit>
#include <cmath>

#include "../serial_bench.hpp"
#include "Vdut.h"
#include "systemc/mac/rsqrt_fp32_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr std::uint32_t inf = 0x7F800000;

// Numbers that notice a wrong low bit in the recurrence: those from 1 to 4 whose roots come nearest to a tie, so that
// fewer than 32 bits below the point get them wrong; for each low bit of a state the first that a constant there gets
// wrong; and such that an addend gets wrong of which one bit depends on another (found among all 2^24 significands).
constexpr std::uint32_t hard[] = {
    0x3F800000, 0x3F800001, 0x3F800002, 0x3F800003, 0x3F800004, 0x3F800005, 0x3F800008, 0x3F800080, 0x3F8000FF,
    0x3F800100, 0x3F800690, 0x3F8006A0, 0x3F8006AB, 0x3F800808, 0x3F800810, 0x3F80081F, 0x3F8008A8, 0x3F8008AB,
    0x3F8008F3, 0x3F8008F4, 0x3F8008FF, 0x3F800918, 0x3F80091B, 0x3F80092B, 0x3F80092F, 0x3F800934, 0x3F800937,
    0x3F800939, 0x3F80093B, 0x3F80093D, 0x3F80093E, 0x3F801001, 0x3F801BB9, 0x3F83FD98, 0x3F86D777, 0x3F8776C3,
    0x3F88C0D3, 0x3F88F163, 0x3F8A5C86, 0x3F8D0E0D, 0x3F96AEB5, 0x3F98F935, 0x3F9C8B13, 0x3FA49C14, 0x3FAA6FCB,
    0x3FAA9A81, 0x3FB028D6, 0x3FB18F7B, 0x3FB7873B, 0x3FBA18BE, 0x3FBA2A39, 0x3FBAAFF9, 0x3FBABA23, 0x3FBCD10F,
    0x3FD2208F, 0x3FD68DE3, 0x3FD82F9A, 0x3FD89279, 0x3FDD12B2, 0x3FE66CC7, 0x3FEB9F27, 0x3FF28B05, 0x3FF2E501,
    0x3FFA89BF, 0x3FFAED3F, 0x40012A4F, 0x4011FDC7, 0x4016692D, 0x4017FECE, 0x402B69FD, 0x4034D9E1, 0x40355499,
    0x403A18E3, 0x405C4135, 0x40681651, 0x3FCED1A3, 0x3FF1DDCA, 0x40000E7F, 0x3FDAE942, 0x40003F77, 0x3F9CA018,
    0x3FED3230, 0x40008AFA};

class RsqrtFp32Bench : SerialBench<RsqrtFp32Bench, Vdut, systemc::RsqrtFp32Core, std::uint32_t> {
  friend SerialBench;

 public:
  RsqrtFp32Bench(int argc, char** argv) : SerialBench(argc, argv, "rsqrt_fp32", 30'000) {}

  int run() {
    reset();
    for (const std::uint32_t positive :
         {0U,          1U,          2U,          3U,          0x7FFFFFU,   0x400000U,   0x800000U,   0x800001U,
          0xFFFFFFU,   0x3F7FFFFFU, 0x3F800000U, 0x3F800001U, 0x3FFFFFFFU, 0x40000000U, 0x407FFFFFU, 0x40800000U,
          0x40800001U, 0x7F7FFFFFU, inf,         inf + 1,     0x7FC00000U, 0x7FFFFFFFU}) {
      offer(positive);
      offer(positive | 0x80000000U);
    }
    for (std::uint32_t bit = 0; bit < 23; ++bit) offer(1U << bit), offer((2U << bit) - 1);
    for (std::uint32_t e = 0; e < 512; ++e) {
      offer(e << 23 | mantissa());
      offer(e << 23), offer(e << 23 | 1), offer((e << 23) + 0x7FFFFF);
    }
    for (const std::uint32_t a : hard) offer(a);
    const std::uint64_t significands = std::uint64_t{1} << 24;
    for (std::uint64_t i = 0, step = bench_.sweep_step("significands", significands); i < significands; i += step)
      offer(static_cast<std::uint32_t>(0x3F800000 + i));
    drain(0, 0);
    // The sweep's budget is not meant for these.
    for (std::uint64_t i = 0, n = std::min<std::uint64_t>(bench_.budget(), 100'000); i < n;) {
      for (int k = 0; k < 24; ++k, ++i) offer(random(i % 5));
      drain_or_reset(0.02, 40, [&] { return random(1); });
    }
    return finish();
  }

 private:
  std::uint32_t mantissa() { return bits(23); }

  std::uint32_t random(std::uint64_t kind) {
    switch (kind) {
      case 0:  // any code
        return noise();
      case 1:  // an ordinary number
        return (64 + below(128)) << 23 | mantissa();
      case 2:  // a subnormal one
        return mantissa() >> below(23);
      case 3:  // a little more than a power of four
        return (1 + 2 * below(127)) << 23 | mantissa() >> below(23);
      default: {  // next to a tie: what is nearest to the inverse square of a root of 25 bits
        const double root = 0.5 + (static_cast<double>(mantissa()) + 0.5) * 0x1p-24;
        const auto a = static_cast<float>(std::ldexp(1 / (root * root), static_cast<int>(below(200)) - 100));
        return std::bit_cast<std::uint32_t>(a) + below(3) - 1;
      }
    }
  }

  /// Whether y is 1 / sqrt(a) rounded to nearest: (2 s - 1)^2 m < 2^k < (2 s + 1)^2 m, with s the significand of y (24
  /// bits), m the significand of a, and below a power of two the lower limit nearer, (4 s - 1)^2 m < 2^(k+2).
  static bool rounded(std::uint32_t a, std::uint32_t y) {
    if ((a & 0x7FFFFFFF) == 0) return y == ((a & 0x80000000) | inf);
    if (a > inf) return y == 0x7FC00000;
    if (a == inf) return y == 0;
    if (y < 0x800000 || y >= inf) return false;
    const auto significand = [](std::uint32_t x) { return x >> 23 ? (x & 0x7FFFFF) | 0x800000 : x; };
    const auto exponent = [](std::uint32_t x) { return static_cast<int>(x >> 23 ? x >> 23 : 1) - 150; };
    // a = m 2^e, y = s 2^f: y^2 a = 1 means s^2 m = 2^-(e + 2 f).
    const unsigned __int128 m = significand(a), s = significand(y);
    const int k = -(exponent(a) + 2 * exponent(y));
    if (k < 0 || k > 100) return false;
    const auto one = static_cast<unsigned __int128>(1) << (k + 4);  // in units of 1/16: limits are quarters of s
    const unsigned __int128 upper = 4 * s + 2, lower = s == 0x800000 ? 4 * s - 1 : 4 * s - 2;
    return lower * lower * m < one && one < upper * upper * m;
  }

  std::uint32_t noise() { return bits(32); }
  void drive(std::uint32_t a) { dut_->a_i = a; }
  void step(bool offered, std::uint32_t a, bool ready) { core_.step(offered, a, ready); }
  void sample() { output_.sample(dut_->valid_o, dut_->ready_i, dut_->y_o); }
  void check(std::uint32_t a) {
    const auto inputs = [&] { return "a " + hex(a); };
    bench_.expect_eq("root", dut_->y_o, core_.y(), inputs);
    bench_.expect(rounded(a, dut_->y_o),
                  [&] { return "by integers " + hex(dut_->y_o) + " is not the rounded root, " + inputs(); });
  }
};

}  // namespace

int main(int argc, char** argv) { return RsqrtFp32Bench(argc, argv).run(); }
