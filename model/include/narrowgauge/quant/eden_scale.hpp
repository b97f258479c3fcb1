// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_eden_scale: MS-EDEN's rounding of a block scale, as the quantizer of matrices has it in the
// dialect `quartet2` (docs/dialects.md, MS-EDEN).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "narrowgauge/format/round_pack.hpp"

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

/// The scale's next code up if and only if word / 2^bits < p; word is below 2^bits, bits 1 to 24. NaN (0x7F) if the
/// scale is, or if the correction is no number from 2^-126 on.
inline std::uint8_t eden_scale(std::uint8_t scale, float correction, std::uint32_t word, int bits = 24) {
  if (scale == 0x7F || !std::isfinite(correction) || !(correction >= std::numeric_limits<float>::min())) return 0x7F;
  const EdenPlace place = eden_place(scale, correction);
  return static_cast<std::uint8_t>(place.low + (std::ldexp(static_cast<float>(word), -bits) < place.p));
}

}  // namespace narrowgauge
