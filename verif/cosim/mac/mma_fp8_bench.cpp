// SPDX-License-Identifier: Apache-2.0
// ng_mma_fp8 against golden (mma_singles.hpp). Build parameters: NG_MODE, NG_FORMAT_SET, NG_CUTS.
#include "mma_singles.hpp"
#include "narrowgauge/quant/format_set.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

struct MmaFp8 {
  static constexpr const char* name = "mma_fp8";
  static constexpr MmaRule rule = NG_MODE != 0 ? hopper_32 : blackwell_32;
  static constexpr bool scaled = false;
  static constexpr int bits = rule.bits, man = mantissa_of(rule);
  static constexpr Variant right_one{.name = "transcription", .bits = bits, .man = man};
  static constexpr std::array<Variant, 6> wrong_ones{{
      {.name = "a bit less", .bits = bits - 1, .man = man},
      {.name = "a bit more", .bits = bits + 1, .man = man},
      {.name = "rounded to nearest", .bits = bits, .man = man, .nearest = true},
      {.name = "nothing cut off", .bits = 80, .man = man},
      {.name = "a hidden one in subnormal numbers", .bits = bits, .man = man, .hidden = true},
      {.name = "zeros without a label", .bits = bits, .man = man, .zeros = Zeros::nothing},
  }};

  static std::vector<float> golden(const MmaOperand& a, const MmaOperand& b, std::span<const float> c) {
    return mma(a, b, c, rule, 1);
  }
  static std::uint32_t transcription(const Terms& terms, std::uint32_t c, const Variant& v) {
    return truncated_sum(terms, c, v);
  }
  static Side side(Rng& rng) {
    const auto port = rng.below(2);
    const bool e5m2 = NG_FORMAT_SET == format_set::fp8 ? port != 0 : NG_FORMAT_SET == format_set::e5m2;
    return {e5m2 ? Format::e5m2 : Format::e4m3, port};
  }
  static void drive(Vdut& dut, const std::array<Side, 2>& sides, std::uint8_t, std::uint8_t) {
    dut.a_fmt_i = sides[0].port != 0;
    dut.b_fmt_i = sides[1].port != 0;
  }
};

}  // namespace

int main(int argc, char** argv) { return SinglesBench<MmaFp8>(argc, argv).run(); }
