// SPDX-License-Identifier: Apache-2.0
// When the noise of stochastic rounding drowns a tensor (ng_noise_monitor). A
// step of gradient descent with noise of variance sigma^2 in each of d
// coordinates is ineffective once |g| < sigma sqrt(3 d), Chmiel et al., FP4 All
// the Way (arXiv 2505.19115). Stochastic rounding of x between neighbours l <=
// x <= u has variance (x - l)(u - x), so that is sum x^2 < 3 sum (x - l)(u -
// x).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace narrowgauge {

/// 3 (y - l)(u - y) - y^2 in units of 4^-frac_bits, y = `magnitude`
/// 2^-frac_bits and l <= y <= u its neighbours in E2M1. y below 8; beyond 6,
/// where everything saturates, the first part is 0. frac_bits 1 to 8.
constexpr std::int64_t noise_excess(std::uint32_t magnitude, int frac_bits) {
  constexpr std::array<std::int64_t, 8> halves = {0, 1, 2, 3, 4, 6, 8, 12};  // of the numbers of E2M1
  const auto y = static_cast<std::int64_t>(magnitude);
  std::int64_t noise = 0;
  for (std::size_t i = 0; i + 1 < halves.size(); ++i) {
    const std::int64_t l = halves[i] << (frac_bits - 1), u = halves[i + 1] << (frac_bits - 1);
    if (l <= y && y <= u) noise = (y - l) * (u - y);
  }
  return 3 * noise - y * y;
}

/// The excess of a block of at most 16 magnitudes |x| / (s g), times s^2, in
/// units of 2^(-2 frac_bits - 18): `scale` is the UE4M3 code of s, 0 to 127. A
/// NaN, 127, gives 0. The sum of all blocks of a tensor is positive if and only
/// if sum x^2 < 3 sum (x - l)(u - x), whatever g is.
constexpr std::int64_t noise_excess(std::span<const std::uint32_t> magnitudes, std::uint32_t scale, int frac_bits) {
  if (scale == 127) return 0;
  const std::uint32_t field = scale >> 3;
  const std::int64_t significand = (scale & 7) | (field ? 8 : 0);
  std::int64_t sum = 0;
  for (const std::uint32_t magnitude : magnitudes) sum += noise_excess(magnitude, frac_bits);
  return sum * significand * significand * (std::int64_t{1} << 2 * (field ? field - 1 : 0));
}

}  // namespace narrowgauge
