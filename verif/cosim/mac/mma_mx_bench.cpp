// SPDX-License-Identifier: Apache-2.0
// ng_mma_mx against golden (mma_singles.hpp). Build parameters: NG_FORMAT_SET, NG_CUTS.
#include "mma_singles.hpp"
#include "narrowgauge/mac/mma_mx.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

struct MmaMx {
  static constexpr const char* name = "mma_mx";
  static constexpr MmaRule rule = blackwell_32;
  static constexpr bool scaled = true;
  static constexpr Variant right_one{.name = "transcription", .bits = 25};
  static constexpr std::array<Variant, 8> wrong_ones{{
      {.name = "a bit less", .bits = 24},
      {.name = "a bit more", .bits = 26},
      {.name = "rounded to nearest", .bits = 25, .nearest = true},
      {.name = "nothing cut off", .bits = 80},
      {.name = "a hidden one in subnormal numbers", .bits = 25, .hidden = true},
      {.name = "zeros without a label", .bits = 25, .zeros = Zeros::nothing},
      {.name = "zeros that ignore scales", .bits = 25, .zeros = Zeros::minus126},
      {.name = "terms cut off at the last place of FP32", .bits = 25, .least = true},
  }};

  static std::vector<float> golden(const MmaOperand& a, const MmaOperand& b, std::span<const float> c) {
    return mma(a, b, c, rule, 1);
  }
  static std::uint32_t transcription(const Terms& terms, std::uint32_t c, const Variant& v) {
    return truncated_sum(terms, c, v);
  }
  static Side side(Rng& rng) {
    const std::uint32_t port = rng.below(8) != 0 ? rng.below(5) : rng.below(8);
    return {mx_format(NG_FORMAT_SET, port), port};
  }
  static void drive(Vdut& dut, const std::array<Side, 2>& sides, std::uint8_t a_scale, std::uint8_t b_scale) {
    dut.a_fmt_i = sides[0].port;
    dut.b_fmt_i = sides[1].port;
    dut.a_scale_i = a_scale;
    dut.b_scale_i = b_scale;
  }
};

}  // namespace

int main(int argc, char** argv) { return SinglesBench<MmaMx>(argc, argv).run(); }
