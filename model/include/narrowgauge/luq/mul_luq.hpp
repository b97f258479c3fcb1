// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_mul_luq, ng_mul_luq_standard, ng_mul_fp7 and ng_dot_luq: the products of LUQ ("Accurate Neural
// Training with 4-bit Matrix Multiplications at Standard Formats", arXiv 2112.10769), INT4 times FP4 [1,3,0].
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

/// Value of an INT4 code: two's complement in the low four bits, -8 to 7.
constexpr int int4_value(unsigned code) { return static_cast<int>((code & 15) ^ 8) - 8; }

/// Value of an FP4 [1,3,0] code (`e3m0`) in units of alpha: 0 or +-2^0 to +-2^6.
constexpr int luq_value(unsigned code) {
  const int magnitude = (code & 7) == 0 ? 0 : 1 << ((code & 7) - 1);
  return (code & 8) != 0 ? -magnitude : magnitude;
}

/// The product as an integer in units of alpha times the scale of the INT4 operand: within +-512.
constexpr int luq_product(unsigned int4, unsigned fp4) { return int4_value(int4) * luq_value(fp4); }

/// Code of the product in FP7 [1,4,2] (`fp7_e4m2`, value (1 + m / 4) 2^(E - 1)), made as MF-BPROP makes it: the
/// magnitude of the INT4 operand picks a mantissa and what is added to the exponent, signs are xored. Exact for every
/// pair. A zero has the sign that the two signs give.
constexpr std::uint8_t luq_product_fp7(unsigned int4, unsigned fp4) {
  struct Step {
    unsigned exponent, mantissa;
  };
  constexpr std::array<Step, 9> steps{{{0, 0}, {0, 0}, {1, 0}, {1, 2}, {2, 0}, {2, 1}, {2, 2}, {2, 3}, {3, 0}}};
  const int w = int4_value(int4);
  const unsigned sign = (int4 >> 3 ^ fp4 >> 3) & 1;
  if (w == 0 || (fp4 & 7) == 0) return static_cast<std::uint8_t>(sign << 6);
  const Step step = steps[static_cast<std::size_t>(w < 0 ? -w : w)];
  return static_cast<std::uint8_t>(sign << 6 | ((fp4 & 7) + step.exponent) << 2 | step.mantissa);
}

/// The product as a sign, the exponent field c of the FP4 operand and a significand of four bits, the magnitude of the
/// INT4 operand, or 0 if the FP4 operand is zero: bits 7, 6 to 4, 3 to 0; value significand 2^(c - 1). Exact for every
/// pair. A zero has the sign that the two signs give.
constexpr std::uint8_t luq_product_split(unsigned int4, unsigned fp4) {
  const int w = int4_value(int4);
  const unsigned significand = (fp4 & 7) == 0 ? 0 : static_cast<unsigned>(w < 0 ? -w : w);
  return static_cast<std::uint8_t>(((int4 ^ fp4) & 8) << 4 | (fp4 & 7) << 4 | significand);
}

/// Code of the product of two FP7 [1,4,2] numbers, rounded to nearest even; what is too large saturates, a zero has the
/// sign that the two signs give. Operands with E = 0 count as zero, whatever their mantissa: a cast of INT4 or FP4
/// makes no subnormal number, and a product of two normal ones is none.
constexpr std::uint8_t fp7_product(unsigned a, unsigned b) {
  constexpr FormatDesc fp7 = desc(Format::fp7_e4m2);
  const unsigned a_field = a >> 2 & 15, b_field = b >> 2 & 15;
  const bool negative = ((a ^ b) >> 6 & 1) != 0;
  if (a_field == 0 || b_field == 0) return static_cast<std::uint8_t>(negative ? fp7.sign_mask() : 0);
  const std::uint64_t significand = static_cast<std::uint64_t>(4 + (a & 3)) * (4 + (b & 3));  // in units of 1/16
  return static_cast<std::uint8_t>(round_pack(fp7, negative, static_cast<int>(a_field + b_field) - 2 - 4, significand));
}

/// An INT4 code as FP7: exact.
constexpr std::uint8_t int4_to_fp7(unsigned int4) {
  const int w = int4_value(int4);
  return static_cast<std::uint8_t>(
      round_pack(desc(Format::fp7_e4m2), w < 0, 0, static_cast<std::uint64_t>(w < 0 ? -w : w)));
}

/// An FP4 [1,3,0] code as FP7: exact.
constexpr std::uint8_t fp4_to_fp7(unsigned fp4) {
  return static_cast<std::uint8_t>((fp4 >> 3 & 1) << 6 | (fp4 & 7) << 2);
}

/// The FP7 product on the standard datapath, which the paper compares with: both operands cast to FP7, multiplied,
/// normalized, rounded. Equal to luq_product_fp7 for every pair.
constexpr std::uint8_t luq_product_standard(unsigned int4, unsigned fp4) {
  return fp7_product(int4_to_fp7(int4), fp4_to_fp7(fp4));
}

/// sum_i int4[i] * fp4[i] in units of alpha times the scale of the INT4 operand, exact up to 2^20 elements. Codes stand
/// in the low four bits of a byte. Throws Error if the lengths differ.
constexpr int luq_dot(std::span<const std::uint8_t> int4, std::span<const std::uint8_t> fp4) {
  if (int4.size() != fp4.size())
    throw Error("luq_dot: the INT4 operand has " + std::to_string(int4.size()) + " elements and the FP4 operand " +
                std::to_string(fp4.size()) + "; expected equal lengths");
  int sum = 0;
  for (std::size_t i = 0; i < int4.size(); ++i) sum += luq_product(int4[i], fp4[i]);
  return sum;
}

}  // namespace narrowgauge
