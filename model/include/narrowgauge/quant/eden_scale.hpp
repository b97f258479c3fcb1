// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_eden_scale: MS-EDEN's rounding of a block scale, as the quantizer of matrices has it in the
// dialect `quartet2` (docs/dialects.md, MS-EDEN).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/div_fp32.hpp"

namespace narrowgauge {

/// Where a corrected scale stands in UE4M3: at least code `low`, and `p` of the way to the next one, in [0, 1).
struct EdenPlace {
  std::uint8_t low = 0;
  float p = 0;
};

/// w = min(fl(s correction), 448), s the decoded `scale`, a code below 127; low is the largest code not above w, and p
/// = fl(fl(w - l) / fl(h - l)), which is exact: l is 0 or at least w / 2, and h - l a power of two.
inline EdenPlace eden_place(std::uint8_t scale, float correction) {
  const auto value = [](std::uint32_t code) { return static_cast<float>(decode(Format::ue4m3, code)); };
  const float wanted = std::min(value(scale) * correction, value(126));
  auto low = static_cast<std::uint8_t>(encode(Format::ue4m3, wanted));
  if (value(low) > wanted) --low;
  if (low == 126) return {low, 0};
  return {low, (wanted - value(low)) / (value(low + 1U) - value(low))};
}

/// sum y^2 over sum y q, what the scales of a group are corrected by: 1 where the latter is zero, and FLT_MAX beyond
/// it.
inline float eden_correction(float squares, float products) {
  if (products == 0) return 1;
  return std::bit_cast<float>(
      div_fp32(std::bit_cast<std::uint32_t>(squares), std::bit_cast<std::uint32_t>(products), true));
}

/// The code behind eden_place's `low` if and only if uniform < p; uniform is in [0, 1). NaN (0x7F) if the scale is, or
/// if the correction is no number from 2^-126 on.
inline std::uint8_t eden_round(std::uint8_t scale, float correction, float uniform) {
  if (scale == 0x7F || !std::isfinite(correction) || !(correction >= std::numeric_limits<float>::min())) return 0x7F;
  const EdenPlace place = eden_place(scale, correction);
  return static_cast<std::uint8_t>(place.low + (uniform < place.p));
}

/// eden_round of the uniform number word / 2^bits; word is below 2^bits, bits 1 to 24.
inline std::uint8_t eden_scale(std::uint8_t scale, float correction, std::uint32_t word, int bits = 24) {
  return eden_round(scale, correction, std::ldexp(static_cast<float>(word), -bits));
}

}  // namespace narrowgauge
