// SPDX-License-Identifier: Apache-2.0
// ng_exact_acc against 128-bit integer sums: random sums with bubbles, restarts, flags and resets, and the longest sums
// of the largest terms of both signs, which fill the accumulator. Build parameters: NG_TERM_WIDTH, NG_ACC_WIDTH,
// NG_SPLIT.
#include "../bench.hpp"
#include "Vdut.h"

namespace {

using namespace narrowgauge::bench;

constexpr int term_width = NG_TERM_WIDTH, acc_width = NG_ACC_WIDTH;
constexpr bool split = NG_SPLIT > 0;  // then what is seen is a clock older

class ExactAccBench {
 public:
  ExactAccBench(int argc, char** argv) : bench_(argc, argv, "exact_acc", 200'000), dut_(bench_) {}

  int run() {
    reset();
    const __int128 most = (__int128{1} << (term_width - 1)) - 1;
    const std::uint64_t longest = std::uint64_t{1} << std::min(acc_width - term_width, 16);
    for (const __int128 term : {most, -most - 1}) {
      for (std::uint64_t i = 0; i < longest; ++i) cycle(true, i == 0, term, 0);
    }
    for (std::uint64_t i = 0, length = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.0005)) {
        reset();
        length = longest;
      }
      const bool first = length == 0 || length == longest || bench_.rng().chance(0.05);
      const bool valid = bench_.rng().chance(0.7);
      // Flags are rare, so that most sums see none and some see each combination.
      const unsigned flags = bench_.rng().chance(0.05) ? bench_.rng().below(8) : 0;
      cycle(valid, first, random_term(), flags);
      if (valid) length = first ? 1 : length + 1;
    }
    return bench_.finish();
  }

 private:
  __int128 random_term() {
    const auto bits = static_cast<__int128>(static_cast<unsigned __int128>(bench_.rng()()) << 64 | bench_.rng()());
    return bits >> (128 - term_width) >> bench_.rng().below(term_width);
  }

  void reset() {
    dut_.reset();
    sum_ = shown_sum_ = 0;
    flags_ = shown_flags_ = 0;
    compare("after reset");
  }

  void cycle(bool valid, bool first, __int128 term, unsigned flags) {
    dut_->valid_i = valid;
    dut_->first_i = first;
    set_bits128(dut_->term_i, 0, term_width, term);
    dut_->nan_i = flags & 1;
    dut_->pinf_i = flags >> 1 & 1;
    dut_->ninf_i = flags >> 2;
    dut_.tick();
    if (split) show();
    if (valid) {
      sum_ = first ? term : sum_ + term;
      flags_ = first ? flags : flags_ | flags;
    }
    if (!split) show();
    compare("after term " + dec(term) + (valid ? "" : " (not valid)") + (first ? " (first)" : ""));
  }

  void show() {
    shown_sum_ = sum_;
    shown_flags_ = flags_;
  }

  void compare(const std::string& when) {
    bench_.vector();
    bench_.expect_eq("sum", get_signed128(dut_->acc_o, 0, acc_width), shown_sum_, [&] { return when; });
    const unsigned got = dut_->nan_o | dut_->pinf_o << 1U | dut_->ninf_o << 2U;
    bench_.expect_eq("flags", got, shown_flags_, [&] { return when; });
  }

  Bench bench_;
  Dut<Vdut> dut_;
  __int128 sum_ = 0, shown_sum_ = 0;
  unsigned flags_ = 0, shown_flags_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return ExactAccBench(argc, argv).run(); }
