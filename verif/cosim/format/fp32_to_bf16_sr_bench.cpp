// SPDX-License-Identifier: Apache-2.0
// ng_fp32_to_bf16_sr against its golden function and, for numbers, against the definition in reals: every upper half
// with lower halves of none, a single and all bits under the random words that decide, numbers of all of FP32 under
// any, and the expectation of some numbers over all words.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_stochastic.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

class Fp32ToBf16SrBench {
 public:
  Fp32ToBf16SrBench(int argc, char** argv) : bench_(argc, argv, "fp32_to_bf16_sr", 10'000'000), dut_(bench_) {}

  int run() {
    std::vector<std::uint32_t> lowers = {0x0000, 0x7FFF, 0xFFFF};
    for (int bit = 0; bit < 16; ++bit) lowers.push_back(1U << bit);
    for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
      for (const std::uint32_t lower : lowers) {
        const std::uint32_t least = std::min(0x10000 - lower, 0xFFFFU);  // that rounds up, if any does
        for (const std::uint32_t word : {least, least - 1, 0U, 0xFFFFU}) check(upper << 16 | lower, word);
      }
    }
    for (int n = 0; n < 64; ++n) expectation(static_cast<std::uint32_t>(bench_.rng().bits(32)));
    const std::uint64_t all = std::uint64_t{1} << 32;
    for (std::uint64_t x = 0, step = bench_.sweep_step("FP32", all); x < all; x += step) {
      check(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(bench_.rng().bits(16)));
    }
    return bench_.finish();
  }

 private:
  static double number(std::uint32_t code) { return std::bit_cast<float>(code); }

  /// Itself where BF16 has it, else the neighbour that the word decides for, but never infinity.
  static bool rounded(std::uint32_t x, std::uint32_t word, std::uint16_t y) {
    const double exact = number(x), result = number(std::uint32_t{y} << 16);
    if (std::isnan(exact)) return std::isnan(result);
    if (std::isinf(exact)) return exact == result;
    const std::uint32_t cut = x & 0xFFFF0000;
    const double below = std::abs(number(cut)), above = std::abs(number(cut + 0x10000));
    double expected = below;
    if (std::isfinite(above) && (std::abs(exact) - below) / (above - below) + word * 0x1p-16 >= 1) expected = above;
    return std::abs(result) == expected && std::signbit(result) == std::signbit(exact);
  }

  std::uint16_t check(std::uint32_t x, std::uint32_t word) {
    dut_->fp32_i = x;
    dut_->rand_i = static_cast<std::uint16_t>(word);
    dut_.eval();
    bench_.vector();
    const std::uint16_t y = dut_->bf16_o;
    const auto inputs = [&] { return "fp32_i " + hex(x) + ", rand_i " + hex(word); };
    bench_.expect_eq("bf16", std::uint32_t{y}, std::uint32_t{fp32_to_bf16_sr(x, static_cast<std::uint16_t>(word))},
                     inputs);
    bench_.expect(rounded(x, word, y), [&] { return hex(y) + " is not rounded, " + inputs(); });
    return y;
  }

  /// Sums of 65536 numbers of 8 bits, of two neighbouring binades at most, are exact in double.
  void expectation(std::uint32_t x) {
    if ((x >> 16 & 0x7FFF) >= 0x7F7F) return;
    double sum = 0;
    for (std::uint32_t word = 0; word < 0x10000; ++word) sum += number(std::uint32_t{check(x, word)} << 16);
    bench_.expect(sum == number(x) * 0x1p16, [&] { return "the mean of all words is not " + hex(x); });
  }

  Bench bench_;
  Dut<Vdut> dut_;
};

}  // namespace

int main(int argc, char** argv) { return Fp32ToBf16SrBench(argc, argv).run(); }
