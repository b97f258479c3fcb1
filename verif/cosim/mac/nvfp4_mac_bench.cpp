// SPDX-License-Identifier: Apache-2.0
// ng_nvfp4_mac against sums of golden terms in 128 bits, clock by clock: the longest sums of the largest blocks of both
// signs, then random blocks, dense, sparse and such that cancel, with bubbles, restarts, NaN scales and resets.
// Build parameters: NG_ACC_WIDTH, NG_DOT_CUTS, NG_SPLIT.
#include <array>
#include <bit>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/dot_nvfp4.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int acc_width = NG_ACC_WIDTH;
constexpr int latency = 1 + std::popcount(unsigned{NG_DOT_CUTS}) + (NG_SPLIT > 0 ? 1 : 0);

struct Block {
  std::uint64_t a, b;  ///< 16 codes each
  std::uint8_t a_scale, b_scale;
};

struct Sum {
  __int128 value = 0;
  bool nan = false;
  std::uint64_t due = 0;  ///< the clock behind which it shows
};

class Nvfp4MacBench {
 public:
  Nvfp4MacBench(int argc, char** argv) : bench_(argc, argv, "nvfp4_mac", 300'000), dut_(bench_) {}

  int run() {
    restart();
    constexpr std::uint64_t all_plus = 0x7777'7777'7777'7777, all_minus = 0xFFFF'FFFF'FFFF'FFFF;  // +6 and -6
    constexpr std::uint8_t largest = 0x7E, nan = 0x7F;
    constexpr std::uint64_t longest = std::uint64_t{1} << std::min(acc_width - 48, 16);
    for (const std::uint64_t b : {all_plus, all_minus})
      for (std::uint64_t i = 0; i < longest; ++i) check(true, i == 0, {all_plus, b, largest, largest});
    std::uint64_t length = longest;
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.0005)) {
        if (restarts_++ % 2 == 0) drain();
        restart();
        length = longest;
      }
      const bool valid = bench_.rng().chance(0.8), first = length == longest || bench_.rng().chance(0.05);
      Block x = block();
      if (bench_.rng().chance(0.01)) x.a_scale |= nan;
      if (bench_.rng().chance(0.01)) x.b_scale |= nan;
      check(valid, first, x);
      if (valid) length = first ? 1 : length + 1;
    }
    drain();
    return bench_.finish();
  }

 private:
  Block block() {
    Rng& rng = bench_.rng();
    const auto scale = [&rng] { return static_cast<std::uint8_t>(rng.bits(8)); };
    Block x{rng(), rng(), scale(), scale()};
    switch (rng.below(4)) {
      case 0:
        x.a &= std::uint64_t{15} << 4 * rng.below(16);
        break;  // a lone product
      case 1:
        x.b = x.a ^ (rng.chance(0.5) ? 0x8888'8888'8888'8888 : 0);
        break;  // one sign
      default:
        break;
    }
    return x;
  }

  static std::array<std::uint8_t, 16> codes(std::uint64_t packed) {
    std::array<std::uint8_t, 16> codes;
    for (int i = 0; i < 16; ++i) codes[i] = packed >> 4 * i & 15;
    return codes;
  }

  void restart() {
    dut_.reset();
    sum_ = shown_ = {};
    sums_.abandon();  // any clock may be the last before a reset
    compare([] { return std::string("after reset"); });
  }

  /// The sums that are on their way show.
  void drain() {
    for (int i = 1; i < latency; ++i) check(false, bench_.rng().chance(0.5), block());
    bench_.expect_settled(sums_, "behind the last block");
  }

  void check(bool valid, bool first, const Block& x) {
    dut_->valid_i = valid;
    dut_->first_i = first;
    dut_->a_i = x.a;
    dut_->b_i = x.b;
    dut_->a_scale_i = x.a_scale;
    dut_->b_scale_i = x.b_scale;
    dut_.tick();
    ++clock_;
    if (valid) {
      const Nvfp4Term term = nvfp4_term(codes(x.a), codes(x.b), x.a_scale, x.b_scale);
      if (first) sum_ = {};
      sum_.value += term.value;
      sum_.nan |= term.nan;
      sum_.due = clock_ + latency - 1;
      sums_.push_back(sum_);
    }
    if (!sums_.empty() && sums_.front().due == clock_) {
      shown_ = sums_.front();
      sums_.pop_front();
    }
    compare([&] {
      return "after a_i = " + hex(x.a) + ", b_i = " + hex(x.b) + ", scales " + hex(x.a_scale) + " " + hex(x.b_scale) +
             (valid ? "" : " (not valid)") + (first ? " (first)" : "");
    });
  }

  template <class When>
  void compare(const When& when) {
    bench_.vector();
    bench_.expect_eq("sum", get_signed128(dut_->acc_o, 0, acc_width), shown_.value, when);
    bench_.expect_eq("nan", static_cast<bool>(dut_->nan_o), shown_.nan, when);
  }

  Bench bench_;
  Dut<Vdut> dut_;
  Sum sum_;    ///< of the blocks that went in
  Sum shown_;  ///< what the outputs show
  Scoreboard<Sum> sums_{bench_, "sums"};
  std::uint64_t clock_ = 0, restarts_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return Nvfp4MacBench(argc, argv).run(); }
