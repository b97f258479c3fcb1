// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_affine: affine integer codes by an exact product with the inverse of the scale, rounded
// once. The papers' rules, which divide in float32, are in affine.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>

#include "narrowgauge/error.hpp"

namespace narrowgauge {

/// What x is. The values are those of the RTL's parameter Input.
enum class AffineInput : std::uint8_t { int32, fp32 };

/// The unit's parameters.
struct AffineUnit {
  AffineInput input = AffineInput::int32;
  int bits = 8;               ///< of a code, 2 to 8
  bool power_of_two = false;  ///< scales are powers of two: no multiplier
  bool is_signed = true;      ///< codes -2^(bits - 1) to 2^(bits - 1) - 1, else 0 to 2^bits - 1
  bool ties_away = false;     ///< ties go away from zero, else to the even code
  int random_bits = 0;        ///< of an element, 0 to 12

  constexpr int low() const { return is_signed ? -(1 << (bits - 1)) : 0; }
  constexpr int high() const { return low() + (1 << bits) - 1; }
  /// The inverse of the scale is inverse 2^(point() - shift), with inverse = 1 if power_of_two.
  constexpr int point() const { return input == AffineInput::int32 ? 0 : power_of_two ? 47 : 24; }
  /// Bits of the port shift_i.
  constexpr int shift_bits() const { return input == AffineInput::int32 && power_of_two ? 5 : 6; }
};

/// The inverse of a scale.
struct AffineInverse {
  std::uint32_t inverse = 1U << 23;  ///< 24 bits; ignored if AffineUnit::power_of_two
  unsigned shift = 0;                ///< AffineUnit::shift_bits() bits
};

/// 1 / scale with 24 bits, to nearest. Throws Error for a scale that is not positive and finite, is beyond what shift_i
/// can express, or is no power of two where the unit needs one.
inline AffineInverse affine_inverse(float scale, const AffineUnit& unit) {
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);
  const bool power = fraction == 0.5F, valid = std::isfinite(scale) && scale > 0;
  const int lowest = -unit.point() - (unit.power_of_two ? 0 : 23), highest = lowest + (1 << unit.shift_bits()) - 1;
  const int shift = exponent - (power ? 1 : 0) - lowest;
  if (!valid || shift < 0 || shift > highest - lowest || (unit.power_of_two && !power)) {
    std::ostringstream text;
    text << "scale is " << scale << "; expected " << (unit.power_of_two ? "a power of two, " : "") << "2^" << lowest
         << " to 2^" << highest;
    throw Error(text.str());
  }
  if (power) return {.shift = static_cast<unsigned>(shift)};
  const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 24));
  return {.inverse = static_cast<std::uint32_t>(((std::uint64_t{1} << 48) / significand + 1) / 2),
          .shift = static_cast<unsigned>(shift)};
}

/// The code, -128 to 255, of an element: x is the bits of an INT32 or FP32 number, the zero point -2^bits to 2^bits
/// - 1. x times the inverse plus the zero point, exactly, is rounded once: to nearest, or, if stochastic, to what is
/// below its sum with random / 2^random_bits. What is beyond the codes saturates, infinities too; a NaN gives the
/// largest code.
inline int quantize_affine(const AffineUnit& unit, std::uint32_t x, AffineInverse scale, int zero_point,
                           bool stochastic = false, std::uint32_t random = 0) {
  std::int64_t product = unit.power_of_two ? 1 : scale.inverse;
  int shift = static_cast<int>(scale.shift) - unit.point();  // the number is product 2^-shift
  if (unit.input == AffineInput::int32) {
    product *= static_cast<std::int32_t>(x);
  } else {
    const std::uint32_t field = x >> 23 & 0xFF, mantissa = x & 0x7FFFFF;
    const bool negative = x >> 31 != 0;
    if (field == 255) return mantissa == 0 && negative ? unit.low() : unit.high();
    product *= field == 0 ? mantissa : mantissa | 0x800000;
    if (negative) product = -product;
    shift += 150 - static_cast<int>(std::max(field, 1U));
  }
  if (shift > 63) {  // far below what rounding can see, but for its sign
    product = (product > 0) - (product < 0);
    shift = 63;
  } else if (shift < 0) {  // beyond all codes
    if (product != 0) return product < 0 ? unit.low() : unit.high();
    shift = 0;
  }
  const std::int64_t floor = (product >> shift) + zero_point;
  const auto rest =
      static_cast<std::uint64_t>(product) & ((std::uint64_t{1} << shift) - 1);  // above floor, in 2^-shift
  bool up = false;
  if (stochastic && unit.random_bits > 0) {
    const int bits = unit.random_bits;
    const std::uint64_t seen = shift > bits ? rest >> (shift - bits) : rest << (bits - shift);
    up = (seen + random) >> bits != 0;
  } else if (shift > 0) {
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    up = rest > half || (rest == half && (unit.ties_away ? floor >= 0 : (floor & 1) != 0));
  }
  return static_cast<int>(std::clamp<std::int64_t>(floor + up, unit.low(), unit.high()));
}

}  // namespace narrowgauge
