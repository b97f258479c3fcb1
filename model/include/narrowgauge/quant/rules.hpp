// SPDX-License-Identifier: Apache-2.0
// The quantization rules as scalar pure functions: the definitions that the fast quantizer is tested against, and that
// benches of RTL quantizers call.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

inline constexpr float nvfp4_max = 2688.0F;  ///< 448 * 6, the largest code times the largest block scale

/// fl(amax / largest), the scale that makes `amax` the largest representable value; 1 if amax is 0. A subnormal
/// quotient is rounded up instead of to nearest, because there half a unit in the last place is a large error that
/// would clip.
inline float amax_scale(float amax, float largest) {
  if (amax == 0) return 1.0F;
  const float scale = amax / largest;
  const bool short_of = static_cast<double>(scale) * largest < amax;  // exact: 24 + 24 bits
  return scale < std::numeric_limits<float>::min() && short_of
             ? std::nextafter(scale, std::numeric_limits<float>::infinity())
             : scale;
}

/// The smallest power of two not below amax / largest, at least 2^-149; 1 if amax is 0.
inline float amax_scale_power_of_two(float amax, float largest) {
  if (amax == 0) return 1.0F;
  int exponent = std::ilogb(amax) - std::ilogb(largest) - 1;  // largest >= 2^ilogb: never too high
  while (exponent < -149 || std::ldexp(static_cast<double>(largest), exponent) < amax) ++exponent;
  return std::ldexp(1.0F, exponent);
}

/// The point at and above (`inclusive`) or only above which a magnitude rounds to `code` or higher, code >= 1.
struct Threshold {
  double value;
  bool inclusive;
};

/// Nearest modes: the midpoint between the values of code - 1 and code; toward_zero and stochastic (before its random
/// bits): the value itself. Exact. Formats with a zero only.
constexpr Threshold rounding_threshold(const FormatDesc& f, std::uint32_t code, Rounding rounding) {
  const double value = decode(f, code);
  if (rounding == Rounding::toward_zero || rounding == Rounding::stochastic) return {value, true};
  const bool up_is_even = f.man_bits ? code % 2 == 0 : code > 1;  // midpoints of two powers go up, as in round_pack
  return {(decode(f, code - 1) + value) / 2, rounding == Rounding::nearest_away || up_is_even};
}

/// x / unit rounded to format `f`, saturating, by definition: |x| is compared with threshold * unit. `unit` has at most
/// 28 significant bits (tensor scale times block scale) and a threshold at most 5, so their product is exact in double.
/// Stochastic rounding compares what is left above the lower neighbour, (|x| - l unit) 2^r >= (2^r - R) step unit:
/// exact for random_bits <= 24, because |x| - l unit is a difference of neighbours and the right side has at most 25 +
/// 28 bits.
constexpr std::uint32_t quantize_element(const FormatDesc& f, float x, double unit, const RoundOptions& options = {}) {
  const bool negative = std::bit_cast<std::uint32_t>(x) >> 31;
  const double magnitude = negative ? -static_cast<double>(x) : static_cast<double>(x);
  std::uint32_t code = 0;
  while (code < f.max_code()) {
    const Threshold t = rounding_threshold(f, code + 1, options.rounding);
    if (magnitude < t.value * unit || (magnitude == t.value * unit && !t.inclusive)) break;
    ++code;
  }
  if (options.rounding == Rounding::stochastic && code < f.max_code()) {
    const double low = decode(f, code), step = decode(f, code + 1) - low;
    const auto range = static_cast<double>(std::uint64_t{1} << options.random_bits);
    code += (magnitude - low * unit) * range >= (range - options.random) * (step * unit);
  }
  return f.with_sign(negative, code);
}

/// NVFP4 block scale, exact rule: RNE to UE4M3 of block_amax / (6 tensor_scale), saturating at 448. Threshold (5 bits)
/// * 6 * scale (24) is exact in double.
constexpr std::uint8_t nvfp4_block_scale(float block_amax, float tensor_scale) {
  return static_cast<std::uint8_t>(
      quantize_element(desc(Format::ue4m3), block_amax, 6 * static_cast<double>(tensor_scale)));
}

/// Block scale of the MX formats: OCP's floor rule, code of 2^(floor(log2 block_amax) - e), e the exponent of the
/// element format's largest value (E2M1 2, E4M3 8, E5M2 15), at least 2^-127. Subnormal and zero maxima give code 0.
/// (docs/numerics.md, Block formats)
constexpr std::uint8_t mx_block_scale(const FormatDesc& element, float block_amax) {
  const auto exponent = static_cast<int>(std::bit_cast<std::uint32_t>(block_amax) >> 23);
  const int largest = static_cast<int>(element.max_code() >> element.man_bits) - element.bias;
  return static_cast<std::uint8_t>(std::max(exponent - largest, 0));
}

/// Transformer Engine's NVFP4 arithmetic (docs/quantizers.md, The vendor rule, whose steps these are): IEEE FP32, every
/// operation rounded to nearest even on its own.
namespace vendor {

/// Step 2, S_enc: what the tensor is multiplied by so that its largest value becomes 2688.
inline float encode_scale(float tensor_amax) {
  const float scale = std::min(nvfp4_max / tensor_amax, std::numeric_limits<float>::max());
  return tensor_amax == 0 || scale == 0 ? 1.0F : scale;
}
/// Step 4: the block scale before its rounding to E4M3.
inline float raw_block_scale(float block_amax, float s_enc) {
  const float m = s_enc * (1.0F / 6.0F);
  return std::min(block_amax * m, std::numeric_limits<float>::max());
}
/// Step 6: what the block's elements are multiplied by, from the decoded block scale.
inline float block_encode_scale(float block_scale, float s_enc) {
  const float inverse = 1.0F / s_enc;
  return std::min(1.0F / (block_scale * inverse), std::numeric_limits<float>::max());
}
/// Step 7, before the rounding to E2M1.
inline float scaled_element(float x, float block_enc) { return std::clamp(x * block_enc, -6.0F, 6.0F); }

}  // namespace vendor

}  // namespace narrowgauge
