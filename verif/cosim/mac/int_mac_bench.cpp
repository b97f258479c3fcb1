// SPDX-License-Identifier: Apache-2.0
// ng_int_mac against exact integer sums: the largest products of both signs until the accumulator wraps, random sums
// with bubbles, restarts and resets. Build parameters: NG_A_WIDTH, NG_B_WIDTH, NG_A_SIGNED, NG_B_SIGNED, NG_LANES,
// NG_ACC_WIDTH, NG_PIPELINED.
#include <array>

#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/int_mac.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr IntFormat a_format{.width = NG_A_WIDTH, .is_signed = NG_A_SIGNED != 0};
constexpr IntFormat b_format{.width = NG_B_WIDTH, .is_signed = NG_B_SIGNED != 0};
constexpr int lanes = NG_LANES, acc_width = NG_ACC_WIDTH;
constexpr bool pipelined = NG_PIPELINED != 0;
/// Code of the value of largest magnitude.
constexpr std::uint32_t extreme(const IntFormat& format) {
  return format.is_signed ? 1U << (format.width - 1) : format.mask();
}

using Codes = std::array<std::uint16_t, lanes>;

class IntMacBench {
 public:
  IntMacBench(int argc, char** argv) : bench_(argc, argv, "int_mac", 50'000), dut_(bench_) {}

  int run() {
    reset();
    constexpr std::uint32_t a_most = extreme(a_format), b_most = extreme(b_format);
    for (const std::uint32_t b : {b_most, b_most ^ b_format.mask()}) {  // signed: the second sum is negative
      Codes a_codes, b_codes;
      a_codes.fill(a_most);
      b_codes.fill(b);
      // Terms to the accumulator's end, and some beyond.
      constexpr int headroom = acc_width - a_format.width - b_format.width;
      for (int i = 0; i < (headroom < 12 ? 5 << headroom : 64); ++i) cycle(true, i == 0, a_codes, b_codes);
    }
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      if (bench_.rng().chance(0.0005)) reset();
      Codes a, b;
      for (int lane = 0; lane < lanes; ++lane) {
        a[lane] = static_cast<std::uint16_t>(bench_.rng().bits(a_format.width));
        b[lane] = static_cast<std::uint16_t>(bench_.rng().bits(b_format.width));
      }
      cycle(bench_.rng().chance(0.7), bench_.rng().chance(0.05), a, b);
    }
    return bench_.finish();
  }

 private:
  void reset() {
    dut_.reset();
    sum_ = next_ = 0;
    compare([] { return std::string("reset"); });
  }

  void cycle(bool valid, bool first, const Codes& a, const Codes& b) {
    dut_->valid_i = valid;
    dut_->first_i = first;
    for (int lane = 0; lane < lanes; ++lane) {
      set_bits(dut_->a_i, lane * a_format.width, a_format.width, a[lane]);
      set_bits(dut_->b_i, lane * b_format.width, b_format.width, b[lane]);
    }
    dut_.tick();
    sum_ = next_;
    if (valid) next_ = int_accumulate(first ? 0 : next_, int_dot(a_format, a, b_format, b), acc_width);
    if (!pipelined) sum_ = next_;
    compare([&] {
      std::string text =
          std::string("valid ") + (valid ? "1" : "0") + ", first " + (first ? "1" : "0") + ", lanes (a, b):";
      for (int lane = 0; lane < lanes; ++lane) text += " (" + hex(a[lane]) + ", " + hex(b[lane]) + ")";
      return text;
    });
  }

  template <class When>
  void compare(const When& when) {
    bench_.vector();
    bench_.expect_eq("sum", get_signed128(dut_->acc_o, 0, acc_width), sum_, when);
  }

  Bench bench_;
  Dut<Vdut> dut_;
  __int128 sum_ = 0;   // what the unit shows
  __int128 next_ = 0;  // with the operands of the last cycle
};

}  // namespace

int main(int argc, char** argv) { return IntMacBench(argc, argv).run(); }
