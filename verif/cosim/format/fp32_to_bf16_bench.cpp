// SPDX-License-Identifier: Apache-2.0
// ng_fp32_to_bf16 against encode(bf16): every upper half with lower halves of a single bit, alone and above a tie, then
// a sweep of all 2^32 numbers, exhaustive with --vectors 4294967296.
#include <bit>
#include <vector>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/format/round_pack.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

class Fp32ToBf16Bench {
 public:
  Fp32ToBf16Bench(int argc, char** argv) : bench_(argc, argv, "fp32_to_bf16", 10'000'000), dut_(bench_) {}

  int run() {
    std::vector<std::uint32_t> lowers = {0x0000, 0x7FFF, 0xFFFF};
    for (int bit = 0; bit < 16; ++bit) lowers.push_back(1U << bit);
    for (int bit = 0; bit < 15; ++bit) lowers.push_back(0x8000U | 1U << bit);  // each bit of the sticky one by itself
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
  void check(std::uint32_t x) {
    dut_->fp32_i = x;
    dut_.eval();
    bench_.vector();
    const std::uint32_t expected = encode(desc(Format::bf16), std::bit_cast<float>(x), {.overflow = Overflow::ieee});
    bench_.expect_eq("bf16", std::uint32_t{dut_->bf16_o}, expected, [&] { return "fp32_i " + hex(x); });
  }

  Bench bench_;
  Dut<Vdut> dut_;
};

}  // namespace

int main(int argc, char** argv) { return Fp32ToBf16Bench(argc, argv).run(); }
