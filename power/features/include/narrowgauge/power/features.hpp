// SPDX-License-Identifier: Apache-2.0
// Rungs L0 and L1 of the energy ladder. Energy per cycle = sum over features of (how often it happens in a cycle) x (a
// technology's coefficient in joules). A feature is physical: flip-flops clocked, register bits that flip, nets of an
// adder that settle to another value, transients on the way, ... L0 has their expected values from the description of a
// unit and its operands' statistics (mode `refined`), L1 counts them on real operands in the golden model. power/fit
// fits the coefficients to L3.
//
// Nets are counted by words: a word is what one line of the RTL computes (partial product, row of an array, node of a
// tree, carries of an adder), and it flips as many bits as it differs in from its value in the cycle before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "narrowgauge/power/mac_spec.hpp"

namespace narrowgauge::power {

/// `..._nets`: settled flips, what is left when all is quiet. `..._glitches`: flips beyond those, if each word (a full
/// adder, a level of a prefix adder, a stage of a shifter) takes one unit of time, an exclusive or two.
enum class Feature : std::uint8_t {
  flip_flops,      ///< clocked
  register_flips,  ///< of flip-flop outputs: operands, pipeline, accumulator, results
  array_nets,      ///< array multiplier: partial products, sums, carries
  array_glitches,
  booth_nets,  ///< Booth multiplier: digits, multiples, sums, carries
  booth_glitches,
  wallace_nets,  ///< carry-save multiplier: partial products, both outputs of each compressor
  wallace_glitches,
  serial_nets,  ///< serial multiplier: all of it, its registers' bits too
  serial_glitches,
  product_nets,  ///< products of narrow floating-point numbers, exponents
  product_glitches,
  shift_nets,  ///< stages of aligning shifters
  shift_glitches,
  adder_nets,  ///< carry-propagate adders: trees, ends of multipliers
  adder_glitches,
  accumulator_nets,  ///< the accumulator's adder
  accumulator_glitches,
  normalize_nets,  ///< floating-point accumulators: normalizing shift, rounding
  normalize_glitches,
  operand_loads,  ///< flips of a multiplier's operands x the gates that each bit drives
};
inline constexpr std::size_t feature_count = 21;
inline constexpr std::array<std::string_view, feature_count> feature_names{
    "flip_flops",     "register_flips",   "array_nets",           "array_glitches", "booth_nets",
    "booth_glitches", "wallace_nets",     "wallace_glitches",     "serial_nets",    "serial_glitches",
    "product_nets",   "product_glitches", "shift_nets",           "shift_glitches", "adder_nets",
    "adder_glitches", "accumulator_nets", "accumulator_glitches", "normalize_nets", "normalize_glitches",
    "operand_loads"};

/// Per cycle, in the order of feature_names.
using Features = std::array<double, feature_count>;

constexpr double dot(const Features& features, const Features& coefficients) {
  double sum = 0;
  for (std::size_t i = 0; i < feature_count; ++i) sum += features[i] * coefficients[i];
  return sum;
}

/// L0: expected features of a cycle in which the unit takes new operands, successive ones independent. The first
/// question about a pair of operand statistics builds a table (tens of milliseconds); those of named distributions are
/// kept for good, of histograms for the last few. Thread-safe. Throws Error as check_priceable does, and on a histogram
/// that does not fit its operand.
Features features(const MacQuestion& question);

/// Cycles that a multiply-accumulate takes: energy of a cycle x this is the energy of one. 1 / lanes; structure none:
/// the mean magnitude of a weight, E|w|, zeros being left out.
double cycles_per_mac(const MacQuestion& question);

/// Whether a closed form knows units that multiply these formats: one in both operands, which a unit of ours takes.
bool has_closed_form(const MacSpec& mac);

/// Throws FieldError if no rung of features prices such a unit. Schedules other than plain:
/// ng_unsigned_mac, whose multiplier is an array. Structure none: ng_pann_mac, sorted whatever the schedule says.
void check_priceable(const MacSpec& mac);

/// Operands as an output-stationary product feeds them to a unit, `cycles` of them; those of a schedule in its order.
/// Structure none: weights from -(2^b_width - 1) to that, each of which takes as many cycles as its magnitude.
struct OperandStream {
  std::size_t cycles = 0;
  std::span<const std::uint32_t> a, b;             ///< cycles x lanes codes, lane 0 first
  std::span<const std::uint8_t> a_scale, b_scale;  ///< cycles x blocks of the lanes (16 for nvfp4, 32 for mxfp4)
  std::size_t first_every = 256;                   ///< a new sum starts in cycles 0, n, 2n, ...; 0: in cycle 0 only
};

/// L1: mean features of a cycle, over the transitions between the stream's cycles. `threads` 0: one per core; the
/// result does not depend on it. Throws Error as check_priceable does, and if sizes do not fit, codes are too wide or
/// cycles < 2.
Features features_counted(const MacSpec& mac, const OperandStream& stream, unsigned threads = 0);

/// Cycles a multiply-accumulate takes, as cycles_per_mac(question) has them, of a stream's weights.
double cycles_per_mac(const MacSpec& mac, const OperandStream& stream);

/// Bits of a code of operand a or b (`b`). Weights of the unsigned split and of repeated additions are two's complement
/// of b_width + 1 bits.
int code_bits(const MacSpec& mac, bool b);
/// Lanes that share a block scale: 16 for nvfp4, 32 for mxfp4, the most of both operands, else 1.
std::size_t block_lanes(const MacSpec& mac);

/// Flip-flops that the clock reaches, in the unit with the registers that the flow adds (registered operands;
/// registered results where the unit is combinational).
int flip_flops(const MacSpec& mac);

}  // namespace narrowgauge::power
