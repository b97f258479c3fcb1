// SPDX-License-Identifier: Apache-2.0
// ng_unsigned_mac against the golden split: outputs of two products through all operands and signs where the budget
// covers them, the longest sums of the largest products, random outputs with bubbles, restarts and resets. Build
// parameters: NG_X_WIDTH, NG_W_WIDTH, NG_ACC_WIDTH, NG_SCHEDULE.
#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/pann/pann.hpp"

namespace {

using namespace narrowgauge::bench;

constexpr unsigned x_width = NG_X_WIDTH, w_width = NG_W_WIDTH, acc_width = NG_ACC_WIDTH;
constexpr bool sorted = NG_SCHEDULE == 0;
constexpr std::uint32_t x_most = (1U << x_width) - 1, w_most = (1U << w_width) - 1;

class UnsignedMacBench {
 public:
  UnsignedMacBench(int argc, char** argv)
      : bench_(argc, argv, "unsigned_mac schedule " + std::to_string(NG_SCHEDULE), 100'000), dut_(bench_) {}

  int run() {
    reset();
    // The largest sums of either sign, until they wrap. Of several lengths: what is wrong in one bit in every cycle may
    // be right again at the end (found 2026-11-22 by an injected fault, an inverted bit that depends on another).
    constexpr int headroom = acc_width - x_width - w_width;
    constexpr int longest = headroom < 10 ? 3 << headroom : 64;
    for (const bool negative : {false, true})
      for (int length = longest; length > 0; length = 2 * length / 3)
        for (int i = 0; i < length; ++i) cycle(true, i == 0, i + 1 == length, x_most, w_most, negative);

    constexpr unsigned width = x_width + w_width + 1;
    const std::uint64_t pairs = std::uint64_t{1} << 2 * width;
    for (std::uint64_t p = 0, step = bench_.sweep_step("two products an output", pairs); p < pairs; p += step)
      for (const bool second : {false, true}) {
        const std::uint64_t code = p >> (second ? width : 0);
        cycle(true, !second, second, code & x_most, code >> x_width & w_most, code >> (width - 1) & 1);
      }

    bool open = false;
    std::uint32_t length = 1;
    double minus = 0.5;  // share of negative weights, of this output
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.0005)) {
        reset();
        open = bench_.rng().bits(1);  // a product behind a reset begins a sum, marked as its first or not
      }
      const bool valid = bench_.rng().chance(0.7), first = !open || bench_.rng().chance(0.01);
      if (valid && first) {
        length = 1 + bench_.rng().below(20);
        minus = bench_.rng().below(4) / 3.0;
      }
      const bool last = bench_.rng().below(length) == 0;
      // Sorted outputs, and some with a positive weight behind a negative one, which counts as negative.
      const bool negative = bench_.rng().chance(sorted && !bench_.rng().chance(0.1) ? minus / length : minus);
      cycle(valid, first, last, random(x_width, x_most), random(w_width, w_most), negative);
      if (valid) open = !last;
    }
    for (int i = 0; i < 4; ++i) cycle(false, false, true, 0, 0, false);
    bench_.expect(results_ > 10, [] { return "hardly any results"; });
    return bench_.finish();
  }

 private:
  std::uint32_t random(unsigned width, std::uint32_t most) {
    const std::uint32_t kind = bench_.rng().below(8);
    return kind == 0 ? 0 : kind == 1 ? most : static_cast<std::uint32_t>(bench_.rng().bits(width));
  }

  void reset() {
    dut_->valid_i = 0;
    dut_.reset_without_edge(bench_);
    x_.clear();
    w_.clear();
    minus_ = false;
    bench_.expect_eq("result_o", get_signed(dut_->result_o, 0, acc_width), 0,
                     [] { return "after a reset without a clock edge"; });
    dut_.reset();
  }

  void cycle(bool valid, bool first, bool last, std::uint32_t x, std::uint32_t w, bool negative) {
    dut_->valid_i = valid;
    dut_->first_i = first;
    dut_->last_i = last;
    dut_->x_i = x;
    dut_->w_i = w;
    dut_->negative_i = negative;
    dut_.tick();
    bench_.vector();
    const bool shown = valid && last;
    std::int64_t result = 0;
    if (valid) {
      if (first) {
        x_.clear();
        w_.clear();
        minus_ = false;
      }
      minus_ = negative || (sorted && minus_);
      x_.push_back(static_cast<std::int32_t>(x));
      // A zero weight has no sign: it adds nothing anyway.
      w_.push_back(minus_ ? -static_cast<std::int32_t>(w) : static_cast<std::int32_t>(w));
      if (last) {
        result = bits_of(narrowgauge::pann::split_dot(x_, w_).value());
        ++results_;
      }
    }
    bench_.expect_eq("valid_o", unsigned{dut_->valid_o}, unsigned{shown}, [] { return "this cycle"; });
    bench_.expect_eq("result_o", get_signed(dut_->result_o, 0, acc_width), result, [&] {
      return "x " + std::to_string(x) + ", w " + std::to_string(w) + ", negative " + std::to_string(negative) +
             ", products " + std::to_string(x_.size());
    });
  }

  /// Modulo 2^acc_width.
  static std::int64_t bits_of(std::int64_t sum) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) << (64 - acc_width)) >> (64 - acc_width);
  }

  Bench bench_;
  Dut<Vdut> dut_;
  std::vector<std::int32_t> x_, w_;
  bool minus_ = false;
  std::uint64_t results_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return UnsignedMacBench(argc, argv).run(); }
