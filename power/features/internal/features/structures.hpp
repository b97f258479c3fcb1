// SPDX-License-Identifier: Apache-2.0
// Flips of the nets of multipliers and accumulators, counted bit by bit on streams of operands: rung L1 from the golden
// model, without RTL. Every net has its settled value (zero delay); a flip is a net that differs from its value one
// operand earlier. The same counts beside the paper's formulas: docs/pann.md. Tables of another simulation:
// tests/power/structures_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "narrowgauge/power/mac_spec.hpp"

namespace narrowgauge::power {

/// Flips by kind of net, summed over a stream.
struct MultiplierFlips {
  std::uint64_t steps = 0;  ///< pairs of neighbours: operands less one
  std::uint64_t inputs = 0;
  std::uint64_t recoding = 0;          ///< Booth: neg, one, two of every digit
  std::uint64_t partial_products = 0;  ///< without copies of a sign
  std::uint64_t sums = 0;              ///< outputs of half and full adders, those that add a constant included
  std::uint64_t carries = 0;
  std::uint64_t row_copies =
      0;  ///< bits of the running sum after a row that no adder makes: its first row, last carries
  std::uint64_t registers = 0;  ///< serial: the shifting register of partial sum, from its cleared state on

  /// Every net but the inputs, copies of nets not counted twice.
  std::uint64_t nets() const { return recoding + partial_products + sums + carries + registers; }
  double per_step(std::uint64_t count) const { return static_cast<double>(count) / static_cast<double>(steps); }
};

/// Multiplies a[i] * b[i]; every product is checked against the integer product.
///   array   rows of partial products, one for each bit of b, each added to the running sum by a ripple adder. Signed
///           operands: Baugh-Wooley, products with one sign bit inverted, the constant added at the first row.
///   booth   radix 4, b recoded; rows of a's width plus one, signs extended, ripple adders over all higher bits.
///   wallace the array's partial products reduced by columns with full and half adders, then one ripple adder.
///   serial  b bit by bit, lowest first, into a register that shifts right; without b's bits, which
///   ng_int_mult_serial's
///           holds too (serial_register of narrowgauge/mac/int_mult_serial.hpp).
/// Throws Error if lengths differ or are below 2, a width is not 1 to 16, a value does not fit its width, or the
/// structure is none.
MultiplierFlips multiplier_flips(Structure structure, int a_width, int b_width, bool a_signed, bool b_signed,
                                 std::span<const std::int32_t> a, std::span<const std::int32_t> b);

/// Flips of an accumulator, summed over a stream.
struct AccumulatorFlips {
  std::uint64_t terms = 0;      ///< products that came, or additions' elements (repeated_addition_flips)
  std::uint64_t additions = 0;  ///< clock cycles that added
  std::uint64_t input = 0;      ///< the term as it comes, in acc_width bits
  std::uint64_t steering = 0;   ///< dual: the terms behind the gates of both adders; muxed: the chosen sum; else 0
  std::uint64_t sum = 0;        ///< outputs of the adder
  std::uint64_t carry = 0;      ///< carries of a ripple adder, into every bit but the lowest
  std::uint64_t registers = 0;

  /// What the paper counts at an accumulator, and what its schedule needs beside.
  std::uint64_t paper() const { return input + steering + sum + registers; }
  double per_term(std::uint64_t count) const { return static_cast<double>(count) / static_cast<double>(terms); }
};

/// Accumulates dot products of `length` terms x[i] * w[i], one after the other; a sum starts from zero.
///   plain   the products in two's complement of acc_width bits, as they come; x may be negative.
///   sorted  positive weights first, then negative ones; the sum restarts at the change.
///   dual    two adders, |w| x gated (zero) at the one that does not add.
///   muxed   one adder between two registers.
/// Zero weights are skipped but by plain. Sums must fit acc_width, 1 to 64 (checked); x of the unsigned schedules must
/// not be negative. Throws Error otherwise, or if the lengths differ or are no multiple of `length`.
AccumulatorFlips accumulator_flips(Schedule schedule, int acc_width, std::span<const std::int32_t> x,
                                   std::span<const std::int32_t> w, std::size_t length);

/// The flips of PANN's repeated additions in sorted order: x[i] is added |w[i]| times. terms counts all elements, the
/// zero weights too, which are skipped.
AccumulatorFlips repeated_addition_flips(int acc_width, std::span<const std::int32_t> x,
                                         std::span<const std::int32_t> w, std::size_t length);

}  // namespace narrowgauge::power
