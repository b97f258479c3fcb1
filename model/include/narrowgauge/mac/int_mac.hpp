// SPDX-License-Identifier: Apache-2.0
// Integer products and their sums (RTL twins: rtl/mac/ng_int_mult.sv, ng_int_mac.sv).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge {

/// How codes of an integer operand are read.
struct IntFormat {
  int width = 8;  ///< bits, 1 to 16
  bool is_signed = true;

  constexpr std::uint32_t mask() const { return (std::uint32_t{1} << width) - 1; }
  friend constexpr bool operator==(const IntFormat&, const IntFormat&) = default;
};

/// Value of a code; bits above the format's are ignored.
constexpr std::int64_t int_value(const IntFormat& format, std::uint32_t code) {
  const std::uint32_t sign = format.is_signed ? std::uint32_t{1} << (format.width - 1) : 0;
  return std::int64_t{(code & format.mask()) ^ sign} - std::int64_t{sign};
}

/// value(a) * value(b), exact; it fits a.width + b.width bits, as a signed number if either operand is signed.
constexpr std::int64_t int_product(const IntFormat& a_format, std::uint32_t a, const IntFormat& b_format,
                                   std::uint32_t b) {
  return int_value(a_format, a) * int_value(b_format, b);
}

/// Sum of the products of all lanes, exact. Throws Error if the numbers of lanes differ.
constexpr std::int64_t int_dot(const IntFormat& a_format, std::span<const std::uint16_t> a, const IntFormat& b_format,
                               std::span<const std::uint16_t> b) {
  if (a.size() != b.size()) {
    throw Error("int_dot: a has " + std::to_string(a.size()) + " elements and b has " + std::to_string(b.size()) +
                "; expected equal lengths");
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += int_product(a_format, a[i], b_format, b[i]);
  return sum;
}

/// The low `width` bits (1 to 128) of acc + term as a signed number: what an accumulator of that width holds.
constexpr __int128 int_accumulate(__int128 acc, __int128 term, int width) {
  const auto sum = static_cast<unsigned __int128>(acc) + static_cast<unsigned __int128>(term);
  return static_cast<__int128>(sum << (128 - width)) >> (128 - width);
}

}  // namespace narrowgauge
