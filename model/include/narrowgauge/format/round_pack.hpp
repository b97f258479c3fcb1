// SPDX-License-Identifier: Apache-2.0
// The one place where numbers are narrowed (RTL twin: rtl/format/ng_round_pack.sv), and encode/decode on top of it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "narrowgauge/format/format.hpp"

namespace narrowgauge {

/// Rounding rules. On formats without mantissa bits nearest_even sends the midpoint of two powers up, which is
/// ml_dtypes' E8M0 rule and LUQ's RDNP (docs/numerics.md, Rounding).
enum class Rounding : std::uint8_t {
  nearest_even,
  nearest_away,  ///< ties away from zero (microxcaling's "nearest")
  stochastic,    ///< up iff floor(delta 2^r) + R >= 2^r (PTX cvt.rs; docs/numerics.md, Stochastic rounding)
  toward_zero,
};

/// How to narrow: the rule, what overflow does, and, for stochastic rounding, the random word.
struct RoundOptions {
  Rounding rounding = Rounding::nearest_even;
  Overflow overflow = Overflow::saturate;
  std::uint32_t random = 0;  ///< R, uniform in [0, 2^random_bits)
  int random_bits = 8;       ///< r, 1 to 32
};

/// Code of a NaN of this sign. `saturate`: all payload bits one, positive (PTX 0x7F), and the positive maximum where
/// the format has no NaN. `ieee`: the quiet NaN, sign kept. Oracle: as ml_dtypes, whose FP4/FP6 turn +NaN to -0 and
/// -NaN to +0. A format without minus zero has one NaN.
constexpr std::uint32_t encode_nan(const FormatDesc& f, bool negative, Overflow overflow) {
  const bool oracle = overflow == Overflow::oracle || overflow == Overflow::oracle_saturate;
  if (f.nan == NanKind::none) return oracle ? f.with_sign(!negative, 0) : f.max_code();
  if (overflow == Overflow::saturate && f.nan != NanKind::fnuz) return f.payload_mask();
  return f.nan_code() | (negative ? f.sign_mask() : 0);
}

/// Code of an infinity of this sign.
constexpr std::uint32_t encode_inf(const FormatDesc& f, bool negative, Overflow overflow) {
  if (negative && !f.sign) return f.has_zero ? 0 : overflow == Overflow::saturate ? 0 : encode_nan(f, false, overflow);
  if (overflow == Overflow::saturate || (!f.has_inf && f.nan == NanKind::none))
    return f.with_sign(negative, f.max_code());
  return f.has_inf ? f.with_sign(negative, f.inf_code()) : encode_nan(f, negative, overflow);
}

/// Rounds (-1)^negative * significand * 2^exponent to format `f` and packs it.
/// `significand` is exact, or has its lowest bit or'ed with everything below ("sticky") provided that bit lies below
/// every bit that the rounding looks at. A zero keeps its sign. Unsigned formats turn negative values to 0; E8M0,
/// without zero, turns zero and negative values to NaN, or to 2^-127 where the policy saturates.
constexpr std::uint32_t round_pack(const FormatDesc& f, bool negative, int exponent, std::uint64_t significand,
                                   const RoundOptions& options = {}) {
  const bool saturates = options.overflow == Overflow::saturate || options.overflow == Overflow::oracle_saturate;
  if (significand == 0 || (negative && !f.sign)) {
    if (f.has_zero) return significand == 0 ? f.with_sign(negative, 0) : 0;
    return saturates ? 0 : encode_nan(f, false, options.overflow);
  }
  const int msb_exponent = exponent + 63 - std::countl_zero(significand);  // floor(log2 value)
  const int binade = std::max(msb_exponent, f.min_exp());
  const int shift = binade - f.man_bits - exponent;  // bits of the significand below the target's last place
  std::uint64_t kept = shift <= 0 ? significand << -shift : shift < 64 ? significand >> shift : 0;
  if (shift > 0) {
    const std::uint64_t rest = shift < 64 ? significand & ((std::uint64_t{1} << shift) - 1) : significand;
    const std::uint64_t half = shift <= 64 ? std::uint64_t{1} << (shift - 1) : 0;  // 0: out of reach
    bool up = false;
    switch (options.rounding) {
      case Rounding::nearest_even:
        up = half != 0 && (rest > half || (rest == half && (kept & 1)));
        break;
      case Rounding::nearest_away:
        up = half != 0 && rest >= half;
        break;
      case Rounding::stochastic: {
        const int r = options.random_bits;
        const std::uint64_t fraction = shift <= r ? rest << (r - shift) : shift - r < 64 ? rest >> (shift - r) : 0;
        up = fraction + options.random >= (std::uint64_t{1} << r);
        break;
      }
      case Rounding::toward_zero:
        break;
    }
    // ml_dtypes 0.6 sends all of E8M0's first interval (2^-127, 2^-126) up, not only its upper half.
    const bool oracle = options.overflow == Overflow::oracle || options.overflow == Overflow::oracle_saturate;
    if (oracle && !f.has_zero && options.rounding == Rounding::nearest_even && msb_exponent == f.min_exp()) {
      up = rest != 0;
    }
    kept += up;
  }
  if (!f.has_zero) kept = std::max<std::uint64_t>(kept, 1) - 1;  // E8M0: below the smallest power there is nothing
  const std::uint64_t code = (static_cast<std::uint64_t>(binade - f.min_exp()) << f.man_bits) + kept;
  if (code <= f.max_code()) return f.with_sign(negative, static_cast<std::uint32_t>(code));
  return saturates ? f.with_sign(negative, f.max_code()) : encode_inf(f, negative, options.overflow);
}

/// Code of `x` in format `f`. Every float32 and float16 is exact as a double, so this serves them too.
constexpr std::uint32_t encode(const FormatDesc& f, double x, const RoundOptions& options = {}) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const bool negative = bits >> 63;
  const int biased = static_cast<int>(bits >> 52 & 0x7FF);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7FF) {
    return fraction ? encode_nan(f, negative, options.overflow) : encode_inf(f, negative, options.overflow);
  }
  return biased ? round_pack(f, negative, biased - 1075, fraction | std::uint64_t{1} << 52, options)
                : round_pack(f, negative, -1074, fraction, options);
}
constexpr std::uint32_t encode(Format format, double x, const RoundOptions& options = {}) {
  return encode(desc(format), x, options);
}

/// Value of a code; bits above the format's storage, and the unused top bit of UE4M3, are ignored. Always exact.
constexpr double decode(const FormatDesc& f, std::uint32_t code) {
  const bool negative = f.is_negative(code);
  const std::uint32_t magnitude = f.magnitude(code);
  double value = 0;
  if (f.is_nan(code)) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (f.is_inf(code)) {
    value = std::numeric_limits<double>::infinity();
  } else {
    const std::uint32_t e = magnitude >> f.man_bits;
    const std::uint64_t m = magnitude & ((std::uint32_t{1} << f.man_bits) - 1);
    const bool subnormal = e == 0 && f.has_zero;
    const std::uint64_t significand = subnormal ? m : m | std::uint64_t{1} << f.man_bits;
    const int power = static_cast<int>(subnormal ? 1 : e) - f.bias - f.man_bits;  // within double's normal range
    value = static_cast<double>(significand) * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
  }
  return negative ? -value : value;
}
constexpr double decode(Format format, std::uint32_t code) { return decode(desc(format), code); }

}  // namespace narrowgauge
