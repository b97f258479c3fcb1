// SPDX-License-Identifier: Apache-2.0
// Values of the binary formats of the IEEE P3109 draft (docs/p3109.md). The draft may change, and its text
// allows no claim of conformance to it.
#pragma once

#include <cstdint>
#include <vector>

namespace narrowgauge {

/// BinaryKpP of the draft: one NaN, one zero. The defaults are Binary8p3se.
struct P3109Format {
  int bits = 8;           ///< K, 3 to 8
  int precision = 3;      ///< P with the leading bit, 1 to K - 1 where signed, 1 to K else
  bool is_signed = true;  ///< s or u
  bool extended = true;   ///< e has infinities, f has none

  friend bool operator==(const P3109Format&, const P3109Format&) = default;
};

/// The values of codes 0 to 2^K - 1. Throws Error on widths out of range.
std::vector<double> p3109_values(const P3109Format& format);

}  // namespace narrowgauge
