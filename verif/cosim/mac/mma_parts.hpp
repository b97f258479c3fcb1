// SPDX-License-Identifier: Apache-2.0
// What the testbenches of matrix instructions share (docs/accumulation.md): the end of a transcription of the rule in
// integers, and numbers to start from.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "../bench.hpp"

namespace narrowgauge::bench {

inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// magnitude * 2^distance toward zero, times the sign; |x| < 2^40, distance at most 86.
inline __int128 moved(std::int64_t x, int distance) {
  const __int128 magnitude = x < 0 ? -x : x;
  const __int128 result = distance >= 0 ? magnitude << distance : distance > -64 ? magnitude >> -distance : 0;
  return x < 0 ? -result : result;
}

/// total * 2^unit as an FP32 code with `man` mantissa bits, toward zero or to nearest even; no sum here is too large.
inline std::uint32_t rounded(__int128 total, int unit, int man, bool nearest) {
  const auto magnitude = static_cast<unsigned __int128>(total < 0 ? -total : total);
  const auto high = static_cast<std::uint64_t>(magnitude >> 64), low = static_cast<std::uint64_t>(magnitude);
  const int width = high != 0 ? 64 + std::bit_width(high) : std::bit_width(low);
  const int drop = std::max({width - (man + 1), -126 - man - unit, 0});
  auto kept = drop > 126 ? 0 : magnitude >> drop;
  if (nearest && drop > 0 && drop <= 126) {
    const unsigned __int128 rest = magnitude - (kept << drop), tie = static_cast<unsigned __int128>(1) << (drop - 1);
    kept += rest > tie || (rest == tie && (kept & 1) != 0) ? 1 : 0;
  }
  const std::uint32_t code = bits_of(static_cast<float>(std::ldexp(static_cast<double>(kept), unit + drop)));
  return kept != 0 && total < 0 ? code | 0x80000000U : code;
}

/// A finite FP32 number as significand * 2^(label - 23).
struct Start {
  explicit Start(std::uint32_t code) : label(std::max(static_cast<int>(code >> 23 & 255), 1) - 127) {
    significand = (code & 0x7FFFFF) | ((code >> 23 & 255) != 0 ? 0x800000 : 0);
    if (code >> 31 != 0) significand = -significand;
  }
  int label;
  std::int64_t significand;
};

/// A number with this exponent field, with few mantissa bits, many, or as they come.
inline std::uint32_t number(Rng& rng, int field) {
  auto mantissa = static_cast<std::uint32_t>(rng.bits(23));
  const std::uint32_t kind = rng.below(5);
  if (kind == 0) mantissa = 0x7FFFFF ^ (rng.below(2) << rng.below(23));
  if (kind == 1) mantissa = rng.below(2) << rng.below(23);
  if (kind == 2) mantissa &= 0x7FFFFFU << rng.below(23);
  return rng.below(2) << 31 | static_cast<std::uint32_t>(std::clamp(field, 0, 254)) << 23 | (mantissa & 0x7FFFFF);
}

/// C beside terms whose largest label is `top` and which alone give `products`, an FP32 code: next to either, of any
/// exponent, zero, subnormal, infinite or NaN.
inline std::uint32_t start(Rng& rng, int top, std::uint32_t products) {
  const std::uint32_t sign = rng.below(2) << 31;
  switch (rng.below(16)) {
    case 0:
      return sign;
    case 1:
      return number(rng, static_cast<int>(rng.below(255)));
    case 2:
      return number(rng, rng.below(2) != 0 ? 0 : static_cast<int>(rng.below(20)));
    case 3:
      switch (rng.below(4)) {
        case 0:
          return sign | 0x7F800000;
        case 1:
          return sign | 0x7F800000 | 1U << rng.below(23);
        case 2:
          return number(rng, 190 + static_cast<int>(rng.below(4)));
        default:
          return number(rng, 254);
      }
    case 4:
    case 5:
      return products ^ 0x80000000;
    case 6:
    case 7:
      return (products ^ 0x80000000) + (rng.below(2) << rng.below(26)) - (rng.below(2) << rng.below(26));
    case 8:
    case 9:
      return number(rng, top + 127 + 20 + static_cast<int>(rng.below(32)));
    default:
      return number(rng, top + 127 - 14 + static_cast<int>(rng.below(40)));
  }
}

}  // namespace narrowgauge::bench
