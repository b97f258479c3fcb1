// SPDX-License-Identifier: Apache-2.0
// ng_fixed_to_fp32 against fixed_to_fp32_bits and, where the host can hold the sum, against the host's own conversion.
// Boundary cases exhaustively: every position of the leading one x guard, round and sticky patterns x mantissa corners
// x sign x flags; then random sums of random size. Build parameters: NG_WIDTH, NG_LSB_EXP, NG_CUTS.
#include <cmath>

#include "../bench.hpp"
#include "../cut_pipe.hpp"
#include "Vdut.h"
#include "narrowgauge/mac/fixed_to_fp32.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

constexpr int width = NG_WIDTH, lsb_exp = NG_LSB_EXP;
using Wide = __int128;
using UWide = unsigned __int128;

class FixedToFp32Bench {
 public:
  FixedToFp32Bench(int argc, char** argv)
      : bench_(argc, argv, "fixed_to_fp32 " + std::to_string(width) + " bits, 2^" + std::to_string(lsb_exp), 1'000'000),
        dut_(bench_),
        pipe_(bench_, dut_) {}

  int run() {
    flags();
    for (int msb = -1; msb < width - 1; ++msb) boundaries(msb);
    check(-(Wide{1} << (width - 1)), {});  // the most negative sum has no positive twin
    for (std::uint64_t i = 0; i < bench_.budget(); ++i) {
      const Wide value = static_cast<Wide>(random_wide() >> (128 - width)) - (Wide{1} << (width - 1));
      check(value >> bench_.rng().below(width), {});
    }
    pipe_.drain();
    return bench_.finish();
  }

 private:
  UWide random_wide() { return UWide{bench_.rng()()} << 64 | bench_.rng()(); }

  void check(Wide value, SumFlags flags) {
    set_bits128(dut_->fixed_i, 0, width, value);
    dut_->nan_i = flags.nan;
    dut_->pinf_i = flags.pinf;
    dut_->ninf_i = flags.ninf;
    pipe_([this, value, flags] { compare(value, flags); });
  }

  void compare(Wide value, SumFlags flags) {
    const auto inputs = [&] {
      return "sum " + dec(value) + " nan " + std::to_string(flags.nan) + " +inf " + std::to_string(flags.pinf) +
             " -inf " + std::to_string(flags.ninf);
    };
    bench_.expect_eq("fp32", dut_->fp32_o, fixed_to_fp32_bits(value, lsb_exp, flags), inputs);
    // The host rounds an integer of up to 64 bits to nearest even by itself; the power of two is exact.
    if (width <= 64 && flags == SumFlags{}) {
      const float host = std::ldexp(static_cast<float>(static_cast<std::int64_t>(value)), lsb_exp);
      bench_.expect_eq("fp32, host", dut_->fp32_o, std::bit_cast<std::uint32_t>(host), inputs);
    }
  }

  void both_signs(UWide magnitude) {
    check(static_cast<Wide>(magnitude), {});
    check(-static_cast<Wide>(magnitude), {});
  }

  void flags() {
    const Wide top = Wide{1} << (width - 2);
    for (const Wide value : {Wide{0}, Wide{1}, Wide{-1}, top, -top}) {
      for (int f = 0; f < 8; ++f) check(value, {.nan = (f & 1) != 0, .pinf = (f & 2) != 0, .ninf = (f & 4) != 0});
    }
  }

  // All sums whose leading one is bit `msb` (-1: zero) that rounding could tell apart.
  void boundaries(int msb) {
    if (msb < 0) return both_signs(0);
    const UWide one = UWide{1} << msb;
    const int below = msb - 23;  // bits below the last place
    if (below <= 0) {            // exact: mantissa corners only
      for (const UWide m : {UWide{0}, UWide{1}, one - 1, one - 2, one / 2, random_wide(), random_wide()}) {
        both_signs(one | (m & (one - 1)));
      }
      return;
    }
    // Last place, guard, and every single bit below it, alone and as "all but this".
    const UWide mantissas[] = {0, 1, 2, 0x7FFFFF, 0x7FFFFE, 0x7FFFFD, 0x400000, random_wide() & 0x7FFFFF};
    for (const UWide mantissa : mantissas) {
      for (int guard = 0; guard < 2; ++guard) {
        const UWide base = one | mantissa << below | static_cast<UWide>(guard) << (below - 1);
        const UWide low = (UWide{1} << (below - 1)) - 1;
        both_signs(base);
        both_signs(base | low);
        both_signs(base | (random_wide() & low));
        for (int bit = 0; bit < below - 1; ++bit) {
          both_signs(base | UWide{1} << bit);
          both_signs(base | (low ^ UWide{1} << bit));
        }
      }
    }
  }

  Bench bench_;
  Dut<Vdut> dut_;
  CutPipe<Vdut> pipe_;
};

}  // namespace

int main(int argc, char** argv) { return FixedToFp32Bench(argc, argv).run(); }
