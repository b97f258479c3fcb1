// SPDX-License-Identifier: Apache-2.0
// ng_noise_monitor against 128-bit sums of neighbours searched for in the
// format's table, and the golden function: every magnitude in every lane, every
// scale; random tensors of blocks of several kinds with bubbles, and resets.
// Build parameters: NG_LANES, NG_FRAC_BITS, NG_COUNT_BITS.
#include <algorithm>
#include <array>
#include <vector>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "narrowgauge/format/format.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/noise_monitor.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

__extension__ using Wide = __int128;
constexpr unsigned lanes = NG_LANES, frac_bits = NG_FRAC_BITS, width = frac_bits + 3;
constexpr unsigned acc_width = 2 * frac_bits + 7 + std::bit_width(lanes - 1) + 36 + NG_COUNT_BITS;
using Block = std::array<std::uint32_t, lanes>;

class NoiseMonitorBench {
 public:
  NoiseMonitorBench(int argc, char **argv) : bench_(argc, argv, "noise_monitor"), dut_(bench_) {
    for (std::uint32_t code = 0; code < 8; ++code) grid_.push_back(decode(desc(Format::e2m1), code));
    for (std::uint32_t code = 0; code < 127; ++code) scales_.push_back(decode(desc(Format::e4m3), code));
  }

  int run() {
    dut_.reset();
    outputs();
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (std::uint32_t y = 0; y < 1U << width; ++y) {
        Block block{};
        block[lane] = y;
        cycle(true, true, block, 0x38);
      }
    }
    for (std::uint32_t scale = 0; scale < 128; ++scale) {
      Block block{};
      block.fill(1);  // more noise than number
      cycle(true, true, block, scale);
      block.fill((1U << width) - 1);
      cycle(true, true, block, scale);
      cycle(true, NG_COUNT_BITS == 0, random_block(), scale);
    }
    // 1, 2, 3 ... times 2^n, so that a bit of a positive sum stands alone (found 2026-11-22 by an injected fault): one
    // lane at 2/16 is worth 3 x 2 x 6 - 2 x 2 = 32.
    for (const std::uint32_t scale : {0x08U, 0x38U, 0x58U, 0x78U}) {
      if (NG_COUNT_BITS < 10 || frac_bits != 4) break;
      Block block{};
      block[0] = 2;
      for (std::uint32_t i = 0; i < 1024; ++i) cycle(true, i == 0, block, scale);
    }
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      const bool first = NG_COUNT_BITS == 0 || count_ + 1 >= std::uint64_t{1} << std::min(NG_COUNT_BITS, 20) ||
                         bench_.rng().chance(0.05);
      cycle(bench_.rng().chance(0.8), first, random_block(), static_cast<std::uint32_t>(bench_.rng().bits(7)));
      if (bench_.rng().chance(0.001)) {
        dut_.reset_without_edge(bench_);
        sum_ = 0;
        waiting_.abandon();
        outputs();
      }
    }
    cycle(false, false, {}, 0);
    cycle(false, false, {}, 0);
    bench_.expect(noisy_ > 20 && quiet_ > 20 && zero_ > 5, [] { return "the sums had hardly all signs"; });
    return bench_.finish();
  }

 private:
  Block random_block() {
    const std::uint32_t kind = bench_.rng().below(5);
    const auto bound = static_cast<std::uint32_t>(bench_.rng().bits(width)) + 1;
    Block block;
    for (std::uint32_t &y : block) {
      const auto any = static_cast<std::uint32_t>(bench_.rng().bits(width));
      const std::uint32_t half = any >> (frac_bits - 1) << (frac_bits - 1);
      switch (kind) {
        case 0:
          y = any;
          break;
        case 1:
          y = any % bound;
          break;
        case 2:  // at halves, or one beside
          y = std::min(half + bench_.rng().below(2), (1U << width) - 1);
          break;
        case 3:  // small: the noise is more than the number
          y = any >> 4;
          break;
        default:  // zeros, and 3/8: 3 (3/8) (1/8) = (3/8)^2, so the sum is 0
          y = frac_bits >= 3 && any % 2 ? 3U << (frac_bits - 3) : 0;
      }
    }
    return block;
  }

  /// By the definition, from decoded numbers: exact in double up to the last
  /// product.
  Wide excess(const Block &block, std::uint32_t scale) const {
    if (scale == 127) return 0;
    Wide sum = 0;
    for (const std::uint32_t magnitude : block) {
      const double y = std::ldexp(static_cast<double>(magnitude), -static_cast<int>(frac_bits));
      const auto up = std::lower_bound(grid_.begin(), grid_.end(), y);
      const double noise = up == grid_.end() || *up == y ? 0 : (y - up[-1]) * (*up - y);
      sum += static_cast<Wide>(std::ldexp(3 * noise - y * y, 2 * static_cast<int>(frac_bits)));
    }
    return sum * static_cast<Wide>(std::ldexp(scales_[scale] * scales_[scale], 18));
  }

  void outputs() {
    bench_.expect_eq("excess_o", get_signed128(dut_->excess_o, 0, acc_width), sum_, [] { return "the blocks so far"; });
    bench_.expect_eq("noisy_o", unsigned{dut_->noisy_o}, unsigned{sum_ > 0}, [] { return "the blocks so far"; });
  }

  void cycle(bool valid, bool first, const Block &block, std::uint32_t scale) {
    dut_->valid_i = valid;
    dut_->first_i = first;
    for (unsigned lane = 0; lane < lanes; ++lane) set_bits(dut_->y_i, lane * width, width, block[lane]);
    dut_->scale_i = static_cast<std::uint8_t>(scale);
    dut_.eval();
    outputs();
    dut_.tick();
    if (!waiting_.empty()) {
      const Taken &taken = waiting_.front();
      sum_ = (taken.first ? 0 : sum_) + taken.excess;
      (sum_ > 0 ? noisy_ : sum_ < 0 ? quiet_ : zero_)++;
      waiting_.pop_front();
    }
    if (valid) {
      bench_.vector();
      waiting_.push_back({first, excess(block, scale)});
      bench_.expect_eq("golden function", Wide{noise_excess(block, scale, frac_bits)}, waiting_.front().excess,
                       [] { return "this block"; });
      count_ = first ? 0 : count_ + 1;
    }
    outputs();
  }

  struct Taken {
    bool first;
    Wide excess;
  };
  Bench bench_;
  Dut<Vdut> dut_;
  std::vector<double> grid_, scales_;
  Wide sum_ = 0;
  Scoreboard<Taken> waiting_{bench_, "blocks"};
  std::uint64_t count_ = 0, noisy_ = 0, quiet_ = 0, zero_ = 0;
};

}  // namespace

int main(int argc, char **argv) { return NoiseMonitorBench(argc, argv).run(); }
