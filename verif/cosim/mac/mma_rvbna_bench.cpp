// SPDX-License-Identifier: Apache-2.0
// ng_mma_rvbna against golden (mma_singles.hpp). Build parameters: NG_FORMAT_SET, NG_CUTS.
#include "mma_singles.hpp"
#include "narrowgauge/mac/mma_rvbna.hpp"
#include "narrowgauge/quant/format_set.hpp"

namespace {

using namespace narrowgauge;
using namespace narrowgauge::bench;

/// number * 2^exponent
struct Exact {
  __int128 number;
  int exponent;
};

/// x without its last `drop` bits, toward zero, or to odd.
__int128 dropped(__int128 x, int drop, bool odd) {
  if (drop <= 0) return x << -drop;
  const __int128 magnitude = x < 0 ? -x : x, kept = drop < 127 ? magnitude >> drop : 0;
  const bool lost = drop < 127 ? kept << drop != magnitude : magnitude != 0;
  const __int128 result = kept | (odd && lost ? 1 : 0);
  return x < 0 ? -result : result;
}

int width(__int128 x) {
  const auto magnitude = static_cast<unsigned __int128>(x < 0 ? -x : x);
  const auto high = static_cast<std::uint64_t>(magnitude >> 64), low = static_cast<std::uint64_t>(magnitude);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(low);
}

/// To 24 bits.
Exact shortened(Exact x, bool odd) {
  const int drop = std::max(width(x.number) - 24, 0);
  return {dropped(x.number, drop, odd), x.exponent + drop};
}

/// With 36 bits, which x has at most.
Exact widened(Exact x) {
  const int up = 36 - width(x.number);
  return {x.number << up, x.exponent - up};
}

/// The sum; of a number far below the other one it is enough that there is one.
Exact sum_of(Exact x, Exact y) {
  if (x.number == 0 || y.number == 0) return x.number == 0 ? y : x;
  x = widened(x), y = widened(y);
  Exact &high = x.exponent > y.exponent ? x : y, &low = x.exponent > y.exponent ? y : x;
  if (high.exponent - low.exponent > 70) low = {dropped(low.number, 60, true), low.exponent + 60};
  const int apart = std::min(high.exponent - low.exponent, 70);
  return {(high.number << apart) + low.number, high.exponent - apart};
}

struct MmaRvbna {
  static constexpr const char* name = "mma_rvbna";
  static constexpr bool scaled = false;
  static constexpr int bits = 28;
  static constexpr Variant right_one{.name = "transcription", .bits = bits};
  static constexpr std::array<Variant, 7> wrong_ones{{
      {.name = "a guard bit less", .bits = bits - 1},
      {.name = "a guard bit more", .bits = bits + 1},
      {.name = "products toward zero", .bits = bits, .cut_products = true},
      {.name = "the sum toward zero", .bits = bits, .cut_sum = true},
      {.name = "the sum not rounded", .bits = bits, .one_rounding = true},
      {.name = "the result to nearest", .bits = bits, .nearest = true},
      {.name = "a hidden one in subnormal numbers", .bits = bits, .hidden = true},
  }};

  static std::vector<float> golden(const MmaOperand& a, const MmaOperand& b, std::span<const float> c) {
    return mma_rvbna(a, b, c);
  }
  static std::uint32_t transcription(const Terms& t, std::uint32_t c_code, const Variant& v) {
    Exact dot{0, t.top - v.bits};
    for (std::size_t i = 0; i < t.products.size(); ++i) {
      dot.number += dropped(__int128{t.products[i]} << 40, t.top - t.labels[i] + 46 - v.bits, !v.cut_products);
    }
    if (!v.one_rounding) dot = shortened(dot, !v.cut_sum);
    const Start c(c_code);
    const Exact sum = sum_of(dot, {c.significand, c.label - 23});
    if (v.nearest) return rounded(sum.number, sum.exponent, 23, true);
    const Exact result = shortened(sum, true);
    return rounded(result.number, result.exponent, 23, false);
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

int main(int argc, char** argv) { return SinglesBench<MmaRvbna>(argc, argv).run(); }
