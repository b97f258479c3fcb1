// SPDX-License-Identifier: Apache-2.0
// ng_delayed_scaling against narrowgauge::DelayedScaling and, cycle for cycle, the cycle model; powers of two also
// against their definition by comparison. Maxima of every exponent, at and next to where a power of two changes, zeros,
// infinities and NaNs, histories that are full, with bubbles and resets. Build parameters: NG_HISTORY, NG_LARGEST,
// NG_MARGIN, NG_POWER_OF_TWO, NG_TENSOR_SCALE.
#include <bit>
#include <cmath>
#include <deque>

#include "../scoreboard.hpp"
#include "Vdut.h"
#include "systemc/quant/delayed_scaling_core.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr systemc::DelayedScalingParams params{.history = NG_HISTORY,
                                               .largest = NG_LARGEST,
                                               .margin = NG_MARGIN,
                                               .power_of_two = NG_POWER_OF_TWO != 0,
                                               .tensor_scale = NG_TENSOR_SCALE != 0};
constexpr std::uint32_t inf = 0x7F800000;

class DelayedScalingBench {
 public:
  DelayedScalingBench(int argc, char** argv) : bench_(argc, argv, "delayed_scaling", 20'000), dut_(bench_) {}

  int run() {
    reset();
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent) record(exponent << 23 | mantissa());
    for (std::uint32_t bit = 0; bit < 23; ++bit) record(1U << bit);
    for (const std::uint32_t code : {1U, 0U, 0x7FFFFFU, 0x800000U, inf - 1, inf, 2U, inf + 1, 0x7FFFFFFFU, 3U})
      record(code);
    // Alone: 0, each power of two, the largest number of the format and a bit more.
    const auto significand = std::bit_cast<std::uint32_t>(static_cast<float>(params.largest)) & 0x7FFFFF;
    for (std::uint32_t bit = 0; bit < 31; ++bit) {
      reset();
      record(0);
      record(1U << bit);
      reset();
      record(0x3F800000 | significand);
      record(0x40000000 | significand | 1U << bit % 23);
    }
    // Subnormal ones at and next to where a power of two changes.
    for (std::uint32_t places = 1; places < 24; ++places) {
      for (std::uint32_t near = 0; near < 3; ++near) {
        reset();
        record(((0x800000 | significand) >> places) + near - 1);
      }
    }
    // Pairs that differ first in a certain bit, and at random below it, in both orders.
    for (std::uint32_t i = 0; i < 31 * 64; ++i) {
      const std::uint32_t bit = i % 31, below = (1U << bit) - 1, kind = i / 31 % 4;
      const auto any = static_cast<std::uint32_t>(bench_.rng().bits(31));
      const std::uint32_t base = kind == 0   ? any
                                 : kind == 1 ? any >> bench_.rng().below(31)
                                 : kind == 2 ? (0x800000 | significand) >> bench_.rng().below(24)
                                             : (any & 0x7F800000) | significand;
      const std::uint32_t high =
          (base & ~below) | 1U << bit | (any & below & static_cast<std::uint32_t>(bench_.rng().bits(31)));
      const std::uint32_t low =
          (high & ~below & ~(1U << bit)) | (static_cast<std::uint32_t>(bench_.rng().bits(31)) & below);
      reset();
      const bool falling = i / 124 % 2 != 0;
      record(falling ? high : low);
      record(falling ? low : high);
    }
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      record(random(i % 7));
      if (bench_.rng().chance(0.04)) {
        offer(random(0));
        for (std::uint32_t cycles = bench_.rng().below(40); cycles > 0; --cycles) cycle(false, 0);
        taken_.abandon();
        reset();
      }
    }
    bench_.expect(kept_ > 5 && changed_ > 50, [] { return "the scale hardly ever changed, or always did"; });
    return bench_.finish();
  }

 private:
  std::uint32_t mantissa() { return static_cast<std::uint32_t>(bench_.rng().bits(23)); }

  std::uint32_t random(std::uint64_t kind) {
    const auto any = static_cast<std::uint32_t>(bench_.rng().bits(31)) % inf;
    const auto largest = std::bit_cast<std::uint32_t>(static_cast<float>(params.largest));
    switch (kind) {
      case 0:
        return any;
      case 1:  // one size
        return 0x3F800000 + mantissa();
      case 2:  // at a power of two times the largest number, or next to it
        return (any & 0x7F800000) + (largest & 0x7FFFFF) + bench_.rng().below(3) - (any & 0x7F800000 ? 1 : 0);
      case 3:  // 0, or what has no scale
        return bench_.rng().chance(0.3) ? inf + bench_.rng().below(3) : bench_.rng().chance(0.5) ? 0 : any;
      case 4:  // subnormal numbers
        return mantissa() >> bench_.rng().below(23);
      case 5:  // a bit off the one before
        return seen_.empty() ? any : seen_.back() ^ 1U << bench_.rng().below(31);
      default:  // small ones, so that what is large is remembered and then forgotten
        return any >> 1;
    }
  }

  void reset() {
    dut_->valid_i = 0;
    dut_.reset_without_edge(bench_);
    core_.reset();
    taken_.reset();
    seen_.clear();
    scale_ = 0x3F800000;
    outputs();
    dut_.reset();
  }

  void outputs() {
    const auto model = [] { return "the cycle model"; };
    bench_.expect_eq("ready_o", unsigned{dut_->ready_o}, unsigned{core_.ready()}, model);
    bench_.expect_eq("scale_o", dut_->scale_o, core_.scale(), model);
  }

  void cycle(bool valid, std::uint32_t amax) {
    dut_->valid_i = valid;
    dut_->amax_i = amax;
    dut_.eval();
    outputs();
    core_.step(valid, amax);
    dut_.tick();
    outputs();
  }

  void offer(std::uint32_t amax) {
    while (bench_.rng().chance(0.3)) cycle(false, static_cast<std::uint32_t>(bench_.rng().bits(31)));
    bench_.vector();
    cycle(true, amax);
    taken_.push_back(amax);
  }

  void record(std::uint32_t amax) {
    offer(amax);
    for (int cycles = 0; !dut_->ready_o && cycles < NG_HISTORY + 200; ++cycles)
      cycle(bench_.rng().chance(0.5), static_cast<std::uint32_t>(bench_.rng().bits(31)));  // not taken
    bench_.expect(dut_->ready_o, [] { return "ready_o stays low"; });

    // By the definition, from the maxima alone.
    seen_.push_back(taken_.front());
    taken_.pop_front();
    if (seen_.size() > NG_HISTORY) seen_.pop_front();
    std::uint32_t largest = 0;
    for (const std::uint32_t old : seen_) largest = std::max(largest, old);
    if (largest != 0 && largest < inf) {
      scale_ = expected(std::bit_cast<float>(largest));
      ++changed_;
    } else {
      ++kept_;
    }
    bench_.expect_eq("scale", dut_->scale_o, scale_, [&] { return "A = " + hex(largest); });
  }

  static std::uint32_t expected(float a) {
    constexpr float limit = std::numeric_limits<float>::max();
    if (params.power_of_two) {
      int e = 127;
      while (e > -126 && std::ldexp(double{a}, e + params.margin) > params.largest) --e;
      return std::bit_cast<std::uint32_t>(std::ldexp(1.0F, params.tensor_scale ? -e : e));
    }
    // Quotients of 24 bits are never so near a tie that 53 bits do not decide; subnormal ones are rounded to double,
    // then to float, and may be exact ties, which 53 bits hold.
    const auto quotient = [&](double x, double y) { return static_cast<float>(x / y); };
    if (params.tensor_scale)
      return std::bit_cast<std::uint32_t>(
          std::clamp(quotient(std::ldexp(double{a}, params.margin), params.largest), 0x1p-126F, limit));
    return std::bit_cast<std::uint32_t>(std::min(std::ldexp(quotient(params.largest, a), -params.margin), limit));
  }

  Bench bench_;
  Dut<Vdut> dut_;
  systemc::DelayedScalingCore<params> core_;
  Scoreboard<std::uint32_t> taken_{bench_, "scales"};  // maxima whose scales have not been compared
  std::deque<std::uint32_t> seen_;
  std::uint32_t scale_ = 0;
  std::uint64_t kept_ = 0, changed_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return DelayedScalingBench(argc, argv).run(); }
