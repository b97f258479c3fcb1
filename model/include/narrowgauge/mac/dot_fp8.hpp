// SPDX-License-Identifier: Apache-2.0
// Exact dot product of FP8 vectors as one integer (RTL twins: rtl/mac/ng_fp8_lane.sv, rtl/mac/ng_dot_fp8.sv).
// Formats and widths: OCP 8-bit floating point; docs/numerics.md, Exact sums.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"

namespace narrowgauge {

/// An exact sum value * 2^lsb_exp, and what an integer cannot say of it.
struct Fp8Sum {
  __int128 value = 0;
  SumFlags flags;
};

/// Unit 2^lsb_exp of the sums: the least non-zero product of two E4M3 numbers, 2^-9 * 2^-9 ...
inline constexpr int fp8_lsb_exp_e4m3 = -18;
/// ... and of any two FP8 numbers, 2^-16 * 2^-16.
inline constexpr int fp8_lsb_exp = -32;

/// a * b in units of 2^lsb_exp, for codes of Format::e4m3 or Format::e5m2; lsb_exp at most fp8_lsb_exp_e4m3 if both are
/// E4M3, else at most fp8_lsb_exp. NaN if an operand is NaN or if it is infinity times zero. Special operands have a
/// value too, because the hardware's sum has: E4M3's NaN counts as 480, what its bits would be; E5M2's specials count
/// as 0. Throws Error for another format or unit.
constexpr Fp8Sum fp8_product(std::uint8_t a, std::uint8_t b, Format a_format, Format b_format,
                             int lsb_exp = fp8_lsb_exp) {
  struct Operand {
    bool negative, nan, inf;
    int significand, exponent;
  };
  const auto decode = [](unsigned code, Format format) {
    if (format != Format::e4m3 && format != Format::e5m2)
      throw Error("fp8_product: format '" + std::string(desc(format).name) +
                  "' is not an FP8 format; use e4m3 or e5m2");
    const FormatDesc& fp8 = desc(format);
    const int field = static_cast<int>((code & fp8.payload_mask()) >> fp8.man_bits);
    const int fraction = static_cast<int>(code & ((1U << fp8.man_bits) - 1));
    const bool special = fp8.has_inf && field == (1 << fp8.exp_bits) - 1;
    return Operand{.negative = fp8.is_negative(code),
                   .nan = fp8.is_nan(code),
                   .inf = fp8.is_inf(code),
                   .significand = special      ? 0
                                  : field == 0 ? fraction
                                               : fraction + (1 << fp8.man_bits),
                   .exponent = (field == 0 ? 1 : field) - fp8.bias - fp8.man_bits};
  };
  const int coarsest = a_format == Format::e4m3 && b_format == Format::e4m3 ? fp8_lsb_exp_e4m3 : fp8_lsb_exp;
  if (lsb_exp > coarsest)
    throw Error("fp8_product: unit 2^" + std::to_string(lsb_exp) + " cannot hold every product; expected 2^" +
                std::to_string(coarsest) + " or less");

  const Operand x = decode(a, a_format), y = decode(b, b_format);
  const bool negative = x.negative != y.negative;
  const bool x_zero = x.significand == 0 && !x.inf && !x.nan, y_zero = y.significand == 0 && !y.inf && !y.nan;

  Fp8Sum product;
  product.flags.nan = x.nan || y.nan || (x.inf && y_zero) || (x_zero && y.inf);
  const bool inf = (x.inf || y.inf) && !product.flags.nan;
  product.flags.pinf = inf && !negative;
  product.flags.ninf = inf && negative;
  const int significand = x.significand * y.significand, shift = x.exponent + y.exponent - lsb_exp;
  const __int128 magnitude = __int128{significand} << shift;
  product.value = negative ? -magnitude : magnitude;
  return product;
}

/// The sum of the products of two vectors of equal length, exact up to 2^60 products.
/// Throws Error if the lengths differ, and as fp8_product does.
constexpr Fp8Sum dot_fp8(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, Format a_format,
                         Format b_format, int lsb_exp = fp8_lsb_exp) {
  if (a.size() != b.size())
    throw Error("dot_fp8: a has " + std::to_string(a.size()) + " elements and b has " + std::to_string(b.size()) +
                "; expected equal lengths");
  Fp8Sum sum;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Fp8Sum product = fp8_product(a[i], b[i], a_format, b_format, lsb_exp);
    sum.value += product.value;
    sum.flags |= product.flags;
  }
  return sum;
}

}  // namespace narrowgauge
