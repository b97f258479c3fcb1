// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_fp8_adam: Adam with moments in FP8, the first in E4M3, the second in E5M2, each under a scale of
// its tensor ("Scaling FP8 Training to Trillion-Token LLMs", arXiv 2409.12517), with weight decay as in AdamW.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/div_fp32.hpp"
#include "narrowgauge/mac/fp_mac.hpp"
#include "narrowgauge/mac/rsqrt_fp32.hpp"

namespace narrowgauge {

/// What is the same for all elements of a step, as FP32 codes.
struct Fp8AdamConstants {
  std::uint32_t m_decay = 0;     ///< beta1 over the scale of the old codes
  std::uint32_t m_gain = 0;      ///< 1 - beta1
  std::uint32_t v_decay = 0;     ///< beta2 over the scale of the old codes
  std::uint32_t v_gain = 0;      ///< 1 - beta2
  std::uint32_t m_scale = 0;     ///< what a new first moment is multiplied by for its code
  std::uint32_t v_scale = 0;     ///< the same for the second
  std::uint32_t root_scale = 0;  ///< 1 / sqrt(1 - beta2^t)
  std::uint32_t epsilon = 0;
  std::uint32_t rate = 0;  ///< learning rate / (1 - beta1^t)
  std::uint32_t keep = 0;  ///< 1 - learning rate * weight decay
};

/// Adam's parameters in a step.
struct Fp8AdamStep {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  std::uint64_t step = 1;                  ///< t, from 1 on
  float m_scale_old = 1, v_scale_old = 1;  ///< the old codes are of moment times scale
  float m_scale = 1, v_scale = 1;          ///< the new codes' scales
};

/// Constants of a step: each is one formula in double precision, rounded once to float. Powers are made by squaring, so
/// that they do not depend on a library.
inline Fp8AdamConstants fp8_adam_constants(const Fp8AdamStep& s) {
  const auto power = [](double base, std::uint64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base) result *= exponent & 1 ? base : 1;
    return result;
  };
  const auto code = [](double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); };
  return {.m_decay = code(s.beta1 / static_cast<double>(s.m_scale_old)),
          .m_gain = code(1 - s.beta1),
          .v_decay = code(s.beta2 / static_cast<double>(s.v_scale_old)),
          .v_gain = code(1 - s.beta2),
          .m_scale = std::bit_cast<std::uint32_t>(s.m_scale),
          .v_scale = std::bit_cast<std::uint32_t>(s.v_scale),
          .root_scale = code(1 / std::sqrt(1 - power(s.beta2, s.step))),
          .epsilon = code(s.epsilon),
          .rate = code(s.rate / (1 - power(s.beta1, s.step))),
          .keep = code(1 - s.rate * s.weight_decay)};
}

struct Fp8AdamElement {
  std::uint32_t weight = 0;              ///< FP32 code
  std::uint8_t m = 0, v = 0;             ///< codes of E4M3 and E5M2
  std::uint32_t m_fp32 = 0, v_fp32 = 0;  ///< of a result: the moments before they were rounded to FP8
};

/// An operand of the division and the root, for their time.
struct Fp8AdamTrace {
  std::uint32_t dividend = 0, divisor = 0;
};

/// What a second moment under code 0 may have been: half the smallest number of E5M2 over the scale of the old codes,
/// as an FP32 code. 0 in the first step, whose codes have lost nothing.
inline std::uint32_t fp8_adam_floor(const Fp8AdamStep& s) {
  const double half = std::ldexp(1.0, -17) / static_cast<double>(s.v_scale_old);
  return s.step == 1 ? 0 : std::bit_cast<std::uint32_t>(static_cast<float>(half));
}

/// What can be asked for beyond ng_fp8_adam, which is the default.
struct Fp8AdamOptions {
  /// Where the old code of the second moment is 0, the step is divided by the root of at least this number: without it
  /// an element whose second moment vanishes and whose first one does not takes steps of 1 / sqrt(1 - beta2) rates.
  std::uint32_t v_floor = 0;
  int random_bits = 0;                       ///< 0: to nearest even; else stochastic, 1 to 32 bits of the words
  std::uint32_t m_random = 0, v_random = 0;  ///< below 2^random_bits
};

/// A step of Adam on an element; gradient is an FP32 code. Every line is rounded once to nearest even; every NaN is
/// 0x7FC00000, in FP8 0x7F. The order is that of docs/units/fp8_adam.md. `trace`: what is divided.
inline Fp8AdamElement fp8_adam(const Fp8AdamConstants& k, std::uint32_t gradient, const Fp8AdamElement& old,
                               Fp8AdamTrace* trace = nullptr, const Fp8AdamOptions& options = {}) {
  constexpr std::uint32_t minus_zero = 0x80000000, sign = 0x80000000, one = 0x3F800000;
  const auto fma = [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return fma_fp32(desc(Format::fp32), a, b, c);
  };
  const auto value = [](Format format, std::uint8_t code) {
    return fp32_bits(static_cast<float>(decode(format, code)));
  };
  const auto narrow = [&](Format format, std::uint32_t x, std::uint32_t random) {
    const bool nearest = options.random_bits == 0;
    return static_cast<std::uint8_t>(encode(format, static_cast<double>(std::bit_cast<float>(x)),
                                            {.rounding = nearest ? Rounding::nearest_even : Rounding::stochastic,
                                             .overflow = desc(format).overflow,
                                             .random = random,
                                             .random_bits = nearest ? 8 : options.random_bits}));
  };
  const std::uint32_t m = fma(k.m_decay, value(Format::e4m3, old.m), fma(k.m_gain, gradient, minus_zero));
  const std::uint32_t square = fma(fma(k.v_gain, gradient, minus_zero), gradient, minus_zero);
  const std::uint32_t v = fma(k.v_decay, value(Format::e5m2, old.v), square);
  // FP32 numbers that are not negative are in the order of their codes.
  const bool lost = (old.v & 0x7F) == 0 && (v & sign) == 0 && v < options.v_floor;
  const std::uint32_t divided = lost ? options.v_floor : v;
  const bool plain = (divided & ~sign) != 0 && (divided & ~sign) < 0x7F800000;  // else it is its own root
  const std::uint32_t root = fma(divided, plain ? rsqrt_fp32(divided) : one, minus_zero);
  const std::uint32_t divisor = fma(root, k.root_scale, k.epsilon);
  const std::uint32_t dividend = fma(m, k.rate, minus_zero);
  if (trace) *trace = {dividend, divisor};
  return {.weight = fma(old.weight, k.keep, div_fp32(dividend, divisor) ^ sign),
          .m = narrow(Format::e4m3, fma(m, k.m_scale, minus_zero), options.m_random),
          .v = narrow(Format::e5m2, fma(v, k.v_scale, minus_zero), options.v_random),
          .m_fp32 = m,
          .v_fp32 = v};
}

/// Cycles of ng_fp8_adam between the edge that takes the element and valid_o.
inline int fp8_adam_steps(const Fp8AdamElement& result, const Fp8AdamTrace& trace) {
  return 10 + rsqrt_fp32_steps(result.v_fp32) + div_fp32_steps(trace.dividend, trace.divisor);
}

}  // namespace narrowgauge
