// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_4over6: one block by the rules of quant/rules.hpp, dialect `narrowgauge` with
// search=mae,nonfinite=nan_scale (docs/dialects.md).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "narrowgauge/quant/quantize_nvfp4.hpp"

namespace narrowgauge {

/// 16 BF16 codes, finite, under a tensor scale g, with the scale RNE(amax / (largest g)), to nearest even; scale code 0
/// makes all codes 0.
inline Nvfp4Block four_over_six_candidate(std::span<const std::uint16_t, 16> x, float g, int largest) {
  const auto number = [](std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); };
  std::uint16_t amax = 0;
  for (const std::uint16_t code : x) amax = std::max<std::uint16_t>(amax, code & 0x7FFF);
  Nvfp4Block block;
  block.scale =
      static_cast<std::uint8_t>(quantize_element(desc(Format::ue4m3), number(amax), largest * static_cast<double>(g)));
  if (block.scale == 0) return block;
  const double unit = decode(Format::ue4m3, block.scale) * g;
  for (std::size_t i = 0; i < 16; ++i)
    block.codes[i] = static_cast<std::uint8_t>(quantize_element(desc(Format::e2m1), number(x[i]), unit));
  return block;
}

/// Sum of |x - q s g| of `four` less that of `six`, exact, in units of 2^-11 of the tensor scale's last place (as an
/// FP32 number with 24 bits). The scales are not the same: then |x| is below 16 s g. Where both codes are 0 the errors
/// are equal and drop out; elsewhere x is at least s g / 4 for one of the scales, which are at least 2^-9, so it is a
/// multiple of that unit.
inline std::int64_t four_over_six_balance(std::span<const std::uint16_t, 16> x, float g, const Nvfp4Block& six,
                                          const Nvfp4Block& four) {
  const int exponent = std::ilogb(g) - 23 - 11;
  std::int64_t balance = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    if (((six.codes[i] | four.codes[i]) & 7) == 0) continue;
    const double number = std::bit_cast<float>(std::uint32_t{x[i]} << 16);
    const auto error = [&](const Nvfp4Block& block) {
      const double value = decode(Format::e2m1, block.codes[i]) * decode(Format::ue4m3, block.scale) * g;
      return static_cast<std::int64_t>(std::ldexp(std::abs(number - value), -exponent));
    };
    balance += error(four) - error(six);
  }
  return balance;
}

/// Four over six: the block's largest number becomes 4 instead of 6 if the sum of absolute errors is less then.
/// Scale NaN (0x7F) and codes 0 if a number is a NaN or an infinity, or if the tensor scale is not finite and at least
/// 2^-111.
inline Nvfp4Block quantize_4over6(std::span<const std::uint16_t, 16> x, float tensor_scale) {
  const Nvfp4Block six = quantize_nvfp4(x, tensor_scale, false);
  if (six.scale == 0x7F) return six;
  const Nvfp4Block four = four_over_six_candidate(x, tensor_scale, 4);
  return four.scale != six.scale && four_over_six_balance(x, tensor_scale, six, four) < 0 ? four : six;
}

}  // namespace narrowgauge
