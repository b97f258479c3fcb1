// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_log_prune: statistics of log2|x| over a stream of BF16 codes, in fixed point, and stochastic
// pruning of BF16 codes. What they are for, and both in double: luq/lognormal.hpp.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "narrowgauge/error.hpp"
#include "narrowgauge/luq/lognormal.hpp"

namespace narrowgauge {

/// log2|x| of a BF16 code that is neither zero nor special, in units of 2^-frac_bits, frac_bits 1 to 7: exponent and
/// mantissa m as fraction, plus a correction in 1/128 by the upper four bits of m, rounded, halves up. It is off by
/// less than 1/64 and the rounding.
constexpr int log2_bf16(std::uint16_t x, int frac_bits) {
  constexpr std::array<int, 16> corrections{1, 4, 7, 8, 10, 11, 11, 11, 11, 10, 9, 8, 7, 5, 3, 1};
  int power = (x >> 7 & 0xFF) - 127, mantissa = x & 0x7F;
  if (power == -127) {  // subnormal
    const int zeros = std::countl_zero(static_cast<std::uint8_t>(mantissa)) - 1;
    power -= zeros;
    mantissa = mantissa << (zeros + 1) & 0x7F;
  }
  const int log = power * 128 + mantissa + corrections[static_cast<std::size_t>(mantissa >> 3)];
  return (log + (64 >> frac_bits)) >> (7 - frac_bits);
}

/// What ng_log_prune has summed of a tensor.
struct LogSums {
  std::uint64_t count = 0;    ///< numbers that are neither zero nor special
  std::uint64_t zeros = 0;    ///< of either sign
  std::int64_t sum = 0;       ///< of log2_bf16
  std::uint64_t squares = 0;  ///< of its square
  bool special = false;       ///< there was an infinity or a NaN, which is in no sum

  constexpr void add(std::uint16_t x, int frac_bits) {
    if ((x & 0x7F80) == 0x7F80) {
      special = true;
    } else if ((x & 0x7FFF) == 0) {
      ++zeros;
    } else {
      const std::int64_t log = log2_bf16(x, frac_bits);
      ++count;
      sum += log;
      squares += static_cast<std::uint64_t>(log * log);
    }
  }
};

/// Mean and standard deviation of log2|x| from the sums, for exponent_bits() and pruning_threshold(); `amax`, which the
/// sums do not have, is 0. In double, and sigma at least 0. Throws Error where a number was infinite or NaN.
inline LogStatistics log_statistics(const LogSums& sums, int frac_bits) {
  if (sums.special)
    throw Error("the tensor has an infinity or a NaN; expected finite numbers; mend or mask them first");
  LogStatistics s{.count = static_cast<std::size_t>(sums.count + sums.zeros),
                  .zeros = static_cast<std::size_t>(sums.zeros)};
  if (sums.count == 0) return s;
  const auto n = static_cast<double>(sums.count);
  const double mean = static_cast<double>(sums.sum) / n;
  s.mean = std::ldexp(mean, -frac_bits);
  const double variance = static_cast<double>(sums.squares) / n - mean * mean;
  s.sigma = std::ldexp(std::sqrt(variance > 0 ? variance : 0), -frac_bits);
  return s;
}

/// prune() of a BF16 code; `threshold` is the code of a magnitude. Codes compare as magnitudes: infinities and NaNs
/// are above every finite threshold and stay.
constexpr std::uint16_t prune_bf16(std::uint16_t x, std::uint16_t threshold, std::uint32_t random, int random_bits) {
  const auto exponent = [](std::uint16_t code) { return code >> 7 == 0 ? 1 : code >> 7; };
  const auto significand = [](std::uint16_t code) {
    return static_cast<std::uint64_t>((code & 0x7F) | (code >> 7 == 0 ? 0 : 0x80));
  };
  const auto magnitude = static_cast<std::uint16_t>(x & 0x7FFF);
  if (magnitude >= threshold) return x;
  const int distance = exponent(threshold) - exponent(magnitude);
  const std::uint64_t words = std::uint64_t{1} << random_bits;
  // An integer is at least the bound if and only if its floor is.
  const bool up =
      distance < 64 && significand(magnitude) * words >> distance >= significand(threshold) * (words - random);
  return static_cast<std::uint16_t>((x & 0x8000) | (up ? threshold : 0));
}

}  // namespace narrowgauge
