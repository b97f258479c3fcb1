// SPDX-License-Identifier: Apache-2.0
// ng_nvfp4_sparse_mac against sums of golden terms in 128 bits, clock by clock: the longest sums of the largest blocks
// of both signs, then random blocks with bubbles, restarts, NaN scales, illegal metadata and resets. Build parameters:
// NG_ACC_WIDTH, NG_PAIRS, NG_DOT_CUTS, NG_SPLIT.
#include <array>
#include <bit>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/sparse/dot_nvfp4_sparse.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int acc_width = NG_ACC_WIDTH;
constexpr bool pairs = NG_PAIRS != 0;
constexpr unsigned groups = pairs ? 4 : 8;
constexpr int latency = 1 + std::popcount(unsigned{NG_DOT_CUTS}) + (NG_SPLIT > 0 ? 1 : 0);

struct Block {
  std::array<std::uint8_t, 16> a{};
  std::array<std::uint8_t, 32> b{};
  std::uint32_t metadata = 0;
  std::uint8_t a_scale = 0, b_scale = 0;
};

struct Sum {
  __int128 value = 0;
  bool nan = false, error = false;
  std::uint64_t due = 0;  ///< the clock behind which it shows
};

class Nvfp4SparseMacBench {
 public:
  Nvfp4SparseMacBench(int argc, char** argv) : bench_(argc, argv, "nvfp4_sparse_mac"), dut_(bench_) {}

  int run() {
    restart();
    constexpr std::uint8_t largest = 0x7E, nan = 0x7F;
    constexpr std::uint64_t longest = std::uint64_t{1} << std::min(acc_width - 48, 16);
    for (const std::uint8_t b : {7, 15}) {  // +6 and -6
      Block x{.metadata = legal(), .a_scale = largest, .b_scale = largest};
      x.a.fill(7);
      x.b.fill(b);
      for (std::uint64_t i = 0; i < longest; ++i) check(true, i == 0, x);
    }
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
      if (bench_.rng().chance(0.01)) x.metadata = static_cast<std::uint32_t>(bench_.rng().bits(4 * groups));
      check(valid, first, x);
      if (valid) length = first ? 1 : length + 1;
    }
    drain();
    return bench_.finish();
  }

 private:
  std::uint32_t legal() {
    std::uint32_t metadata = 0;
    for (unsigned group = 0; group < groups; ++group) {
      unsigned nibble = 0;
      while (!is_metadata(nibble)) nibble = static_cast<unsigned>(bench_.rng().bits(4));
      metadata |= nibble << (4 * group);
    }
    return metadata;
  }

  Block block() {
    Rng& rng = bench_.rng();
    Block x{.metadata = legal(),
            .a_scale = static_cast<std::uint8_t>(rng.bits(8)),
            .b_scale = static_cast<std::uint8_t>(rng.bits(8))};
    const bool one_sign = rng.chance(0.25);
    for (std::uint8_t& code : x.a) code = static_cast<std::uint8_t>(rng.bits(one_sign ? 3 : 4));
    for (std::uint8_t& code : x.b) code = static_cast<std::uint8_t>(rng.bits(one_sign ? 3 : 4));
    if (rng.chance(0.25)) {  // a lone product
      const unsigned lane = rng.below(16);
      for (unsigned i = 0; i < 16; ++i) x.a[i] = i == lane ? x.a[i] : 0;
    }
    return x;
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
    for (unsigned i = 0; i < 16; ++i) set_bits(dut_->a_i, 4 * i, 4, x.a[i]);
    for (unsigned i = 0; i < 32; ++i) set_bits(dut_->b_i, 4 * i, 4, x.b[i]);
    set_bits(dut_->metadata_i, 0, 4 * groups, x.metadata);
    dut_->a_scale_i = x.a_scale;
    dut_->b_scale_i = x.b_scale;
    dut_.tick();
    ++clock_;
    if (valid) {
      const SparseNvfp4Term term = nvfp4_sparse_term(x.a, x.metadata, x.b, x.a_scale, x.b_scale, pairs);
      if (first) sum_ = {};
      sum_.value += term.term.value;
      sum_.nan |= term.term.nan;
      sum_.error |= term.error;
      sum_.due = clock_ + latency - 1;
      sums_.push_back(sum_);
    }
    if (!sums_.empty() && sums_.front().due == clock_) {
      shown_ = sums_.front();
      sums_.pop_front();
    }
    compare([&] {
      return "after metadata_i = " + hex(x.metadata) + ", scales " + hex(x.a_scale) + " " + hex(x.b_scale) +
             (valid ? "" : " (not valid)") + (first ? " (first)" : "");
    });
  }

  template <class When>
  void compare(const When& when) {
    bench_.vector();
    bench_.expect_eq("sum", get_signed128(dut_->acc_o, 0, acc_width), shown_.value, when);
    bench_.expect_eq("nan", static_cast<bool>(dut_->nan_o), shown_.nan, when);
    bench_.expect_eq("error", static_cast<bool>(dut_->error_o), shown_.error, when);
  }

  Bench bench_;
  Dut<Vdut> dut_;
  Sum sum_;    ///< of the blocks that went in
  Sum shown_;  ///< what the outputs show
  Scoreboard<Sum> sums_{bench_, "sums"};
  std::uint64_t clock_ = 0, restarts_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return Nvfp4SparseMacBench(argc, argv).run(); }
