// SPDX-License-Identifier: Apache-2.0
// ng_fp32_to_bf16_odd against its golden function and, for numbers, against the definition in reals: every upper half
// with lower halves of none, a single and all bits, then a sweep of all 2^32 codes, exhaustive with
// --vectors 4294967296.
#include <bit>
#include <cmath>
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_odd.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

class Fp32ToBf16OddBench {
 public:
  Fp32ToBf16OddBench(int argc, char** argv) : bench_(argc, argv, "fp32_to_bf16_odd", 10'000'000), dut_(bench_) {}

  int run() {
    std::vector<std::uint32_t> lowers = {0x0000, 0x7FFF, 0xFFFF};
    for (int bit = 0; bit < 16; ++bit) lowers.push_back(1U << bit);
    for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
      for (const std::uint32_t lower : lowers) check(upper << 16 | lower);
    }
    const std::uint64_t all = std::uint64_t{1} << 32;
    for (std::uint64_t x = 0, step = bench_.sweep_step("FP32", all); x < all; x += step) {
      check(static_cast<std::uint32_t>(x));
    }
    return bench_.finish();
  }

 private:
  static double number(std::uint32_t code) { return std::bit_cast<float>(code); }

  /// Equal, or odd with the number between it and a neighbour.
  static bool to_odd(std::uint32_t x, std::uint16_t y) {
    const double exact = number(x), rounded = number(std::uint32_t{y} << 16);
    if (std::isnan(exact)) return std::isnan(rounded);
    if (std::isinf(exact) || exact == rounded) return exact == rounded && std::signbit(exact) == std::signbit(rounded);
    const double below = number((y - 1U) << 16), above = number((y + 1U) << 16);
    return (y & 1) != 0 && std::abs(exact) > std::abs(below) &&
           (std::abs(exact) < std::abs(above) || std::isnan(above));
  }

  void check(std::uint32_t x) {
    dut_->fp32_i = x;
    dut_.eval();
    bench_.vector();
    const std::uint16_t y = dut_->bf16_o;
    bench_.expect_eq("bf16", std::uint32_t{y}, std::uint32_t{fp32_to_bf16_odd(x)}, [&] { return "fp32_i " + hex(x); });
    bench_.expect(to_odd(x, y), [&] { return hex(y) + " is not " + hex(x) + " rounded to odd"; });
  }

  Bench bench_;
  Dut<Vdut> dut_;
};

}  // namespace

int main(int argc, char** argv) { return Fp32ToBf16OddBench(argc, argv).run(); }
