// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/norm/norm_apply.hpp"

#include <cmath>
#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

/// `value` rounded to an integer of `bits` bits in two's complement.
std::int32_t integer_of(double value, int bits, const char* what) {
  const double rounded = std::nearbyint(value), limit = std::ldexp(1.0, bits - 1);
  if (!(rounded >= -limit && rounded < limit)) {
    throw Error(std::string(what) + " is " + std::to_string(value) + " units; expected a number of " +
                std::to_string(bits) + " bits, or a larger exponent");
  }
  return static_cast<std::int32_t>(rounded);
}

}  // namespace

NormFold fold_norm(double mean, double m, double b, int exponent) {
  const std::int32_t multiplier = integer_of(std::ldexp(m, -exponent), 16, "the multiplier");
  const double offset = std::ldexp(b, -exponent) - mean * multiplier;
  return {static_cast<std::int16_t>(multiplier), integer_of(offset, 24, "the offset")};
}

}  // namespace narrowgauge
