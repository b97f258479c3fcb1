// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/format/p3109.hpp"

#include <limits>
#include <string>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {

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
  // Its numbers without their signs, none of which is special here.
  FormatDesc magnitudes{};
  magnitudes.man_bits = f.precision - 1;
  magnitudes.exp_bits = most - magnitudes.man_bits;
  magnitudes.bias = 1 << (most - f.precision);
  magnitudes.has_zero = true;
  std::vector<double> values(codes);
  for (std::uint32_t code = 0; code < codes; ++code) {
    const bool negative = f.is_signed && code > half;
    const std::uint32_t payload = negative ? code - half : code;
    const double value = payload == infinity ? std::numeric_limits<double>::infinity() : decode(magnitudes, payload);
    values[code] = negative ? -value : value;
  }
  values[nan] = std::numeric_limits<double>::quiet_NaN();
  return values;
}

}  // namespace narrowgauge
