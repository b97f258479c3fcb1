// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/format/p3109.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "narrowgauge/require.hpp"

namespace narrowgauge {
namespace {

/// Value of a finite code without its sign: `low` mantissa bits, subnormal where the exponent is 0.
double magnitude(std::uint32_t payload, int low, int bias) {
  const std::uint32_t exponent = payload >> low, mantissa = payload & ((1U << low) - 1);
  if (exponent == 0) return std::ldexp(mantissa, 1 - bias - low);
  return std::ldexp((1U << low) + mantissa, static_cast<int>(exponent) - bias - low);
}

}  // namespace

std::vector<double> p3109_values(const P3109Format& f) {
  detail::require(f.bits >= 3 && f.bits <= 8,
                  [&] { return "bits is " + std::to_string(f.bits) + "; expected 3 to 8"; });
  const int most = f.is_signed ? f.bits - 1 : f.bits;
  detail::require(f.precision >= 1 && f.precision <= most, [&] {
    return "precision is " + std::to_string(f.precision) + "; expected 1 to " + std::to_string(most) + " of " +
           std::to_string(f.bits) + (f.is_signed ? " signed bits" : " unsigned bits");
  });
  const std::uint32_t codes = 1U << f.bits, half = codes / 2;
  const std::uint32_t nan = f.is_signed ? half : codes - 1, infinity = f.extended ? nan - 1 : nan;
  const int bias = 1 << (most - f.precision);
  std::vector<double> values(codes);
  for (std::uint32_t code = 0; code < codes; ++code) {
    const bool negative = f.is_signed && code > half;
    const std::uint32_t payload = negative ? code - half : code;
    const double value =
        payload == infinity ? std::numeric_limits<double>::infinity() : magnitude(payload, f.precision - 1, bias);
    values[code] = negative ? -value : value;
  }
  values[nan] = std::numeric_limits<double>::quiet_NaN();
  return values;
}

}  // namespace narrowgauge
