// SPDX-License-Identifier: Apache-2.0
// Sums of FP32 numbers without rounding.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "narrowgauge/format/format.hpp"
#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge::detail {

/// The exact sum of up to 2^31 finite FP32 numbers: an integer in units of 2^-149, in limbs of 32 bits that carry late.
class ExactSum {
 public:
  void add(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t field = bits >> 23 & 0xFF;
    const std::uint64_t significand = field ? (bits & 0x7FFFFF) | 0x800000 : bits & 0x7FFFFF;
    const std::uint32_t place = field ? field - 1 : 0;
    const std::uint64_t wide = significand << place % 32;
    const std::int64_t low = static_cast<std::uint32_t>(wide), high = static_cast<std::int64_t>(wide >> 32);
    limbs_[place / 32] += bits >> 31 ? -low : low;
    limbs_[place / 32 + 1] += bits >> 31 ? -high : high;
  }

  /// The sum times an integer of at most 16 bits, after at most 2^15 additions.
  ExactSum times(int factor) const {
    ExactSum product = *this;
    for (std::int64_t& limb : product.limbs_) limb *= factor;
    return product;
  }

  /// The sum as a double whose last bit is or'ed with all that lies below it: rounding it to at most 50 bits is
  /// rounding the sum once. A zero sum is +0.
  double rounded_to_odd() const {
    std::array<std::int64_t, limbs> v = limbs_;
    const auto carry = [&] {
      for (std::size_t i = 0; i + 1 < limbs; ++i) {
        const std::int64_t over = v[i] >> 32;  // floor
        v[i] -= over * (std::int64_t{1} << 32);
        v[i + 1] += over;
      }
    };
    carry();
    const bool negative = v[limbs - 1] < 0;
    if (negative) {
      for (std::int64_t& limb : v) limb = -limb;
      carry();
    }
    std::size_t top = limbs - 1;
    while (top > 0 && v[top] == 0) --top;
    std::uint64_t leading = static_cast<std::uint64_t>(v[top]);
    int exponent = static_cast<int>(top) * 32 - 149;
    std::size_t next = top;
    while (next > 0 && leading >> 32 == 0) {  // at least 33 bits, exactly
      leading = leading << 32 | static_cast<std::uint64_t>(v[--next]);
      exponent -= 32;
    }
    bool sticky = false;
    for (std::size_t i = 0; i < next; ++i) sticky |= v[i] != 0;
    // Up to 64 bits stand before what is sticky; 53 are kept.
    const int surplus = std::max(0, 11 - std::countl_zero(leading | 1));
    const std::uint64_t lost = leading & ((std::uint64_t{1} << surplus) - 1);
    leading >>= surplus;
    if (lost != 0 || sticky) leading |= 1;
    const double size = std::ldexp(static_cast<double>(leading), exponent + surplus);
    return negative ? -size : size;
  }

 private:
  static constexpr std::size_t limbs = 11;
  std::array<std::int64_t, limbs> limbs_{};
};

/// v rounded to BF16, nearest even, overflow to infinity; v is no NaN. A normal number loses the last 45 bits of a
/// double, a smaller one all below 2^-133.
inline float rounded_to_bf16(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v);
  const std::uint64_t minus = bits & std::uint64_t{1} << 63, size = bits ^ minus;
  const std::uint64_t normal = (size + ((std::uint64_t{1} << 44) - 1) + (size >> 45 & 1)) >> 45 << 45;
  constexpr double last_place = 0x1.8p-81;  // that of 2^-133
  const double magnitude = std::bit_cast<double>(size);
  const auto small = std::bit_cast<std::uint64_t>((magnitude + last_place) - last_place);
  return static_cast<float>(std::bit_cast<double>(minus | (magnitude < 0x1p-126 ? small : normal)));
}

/// out = in times the Sylvester-Hadamard matrix times `multiplier` (at most 8 bits) 2^`exponent`: exact, rounded once
/// to BF16. `in` has 16 or 128 numbers.
inline void hadamard(std::span<const float> in, int multiplier, int exponent, float* out) {
  const std::size_t n = in.size();
  std::array<double, 128> sum{};
  int least = std::numeric_limits<int>::max(), most = std::numeric_limits<int>::min();  // bits in use
  for (std::size_t i = 0; i < n; ++i) {
    sum[i] = in[i];
    const auto bits = std::bit_cast<std::uint32_t>(in[i]) & 0x7FFFFFFF;
    if (bits == 0) continue;
    const int field = std::max(static_cast<int>(bits >> 23), 1);
    const std::uint32_t significand = bits >> 23 ? (bits & 0x7FFFFF) | 0x800000 : bits;
    least = std::min(least, field + std::countr_zero(significand));
    most = std::max(most, field + 24);
  }
  const double unit = std::ldexp(1.0, exponent);
  const auto rounded = [&](double v) { return rounded_to_bf16(v * unit + 0.0); };
  if (least > most || most - least + static_cast<int>(std::bit_width(n)) <= 45) {  // exact in double
    for (std::size_t half = 1; half < n; half *= 2) {
      for (std::size_t i = 0; i < n; i += 2 * half) {
        for (std::size_t j = i; j < i + half; ++j) {
          const double a = sum[j], b = sum[j + half];
          sum[j] = a + b;
          sum[j + half] = a - b;
        }
      }
    }
    for (std::size_t c = 0; c < n; ++c) out[c] = rounded(sum[c] * multiplier);
    return;
  }
  for (std::size_t c = 0; c < n; ++c) {
    ExactSum exact;
    for (std::size_t r = 0; r < n; ++r) exact.add(std::popcount(r & c) % 2 ? -in[r] : in[r]);
    out[c] = rounded(exact.times(multiplier).rounded_to_odd());
  }
}

}  // namespace narrowgauge::detail
