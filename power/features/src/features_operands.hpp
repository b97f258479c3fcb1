// SPDX-License-Identifier: Apache-2.0
// How often each code of an operand occurs. Private to ng_power.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "narrowgauge/power/features.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge::power {

/// Repeated additions (ng_pann_mac).
inline bool is_repeated(const MacSpec& mac) { return mac.is(MacFormat::integer) && mac.structure == Structure::none; }
/// Shift and add (ng_int_mult_serial), b_width cycles a product.
inline bool is_serial(const MacSpec& mac) { return mac.is(MacFormat::integer) && mac.structure == Structure::serial; }
/// The unsigned split (ng_unsigned_mac).
inline bool is_split(const MacSpec& mac) {
  return mac.is(MacFormat::integer) && mac.schedule != Schedule::plain && !is_repeated(mac);
}
/// Of both, weights are a sign and b_width bits of magnitude; their codes are two's complement of b_width + 1 bits,
/// without the least one.
inline bool has_magnitudes(const MacSpec& mac) { return is_split(mac) || is_repeated(mac); }
/// How an operand of LUQ's product is quantized: INT4 by SAWB, FP4 [1,3,0] to the nearest power.
inline Scheme luq_scheme(bool b) { return b ? Scheme::luq : Scheme::int4; }
/// |w| of such a code.
inline std::uint32_t magnitude_of(const MacSpec& mac, std::uint32_t code) {
  return (code >> mac.b_width ? 0 - code : code) & ((1U << mac.b_width) - 1);
}

/// Brings the products of each sum, `every` of them, into the order in which the unit takes them. sorted, repeated
/// additions: weights of 0 or more before negative ones; the other schedules take them as they come.
void order_products(const MacSpec& mac, std::size_t every, std::vector<std::uint32_t>& a,
                    std::vector<std::uint32_t>& b);

/// Probabilities of the codes 0 ... 2^bits - 1, for operands of at most 16 bits. Weights of repeated additions: those
/// that PANN's quantizer makes of the distribution. Throws Error if a histogram has not that many entries, or one below
/// 0, or none above 0, and if b_width is too small for the additions.
std::vector<double> code_probabilities(const MacSpec& mac, bool b, const OperandStatistics& statistics);

/// n FP32 codes, finite: uniform codes, or normal values.
std::vector<std::uint32_t> float_codes(Distribution distribution, std::size_t n, std::mt19937_64& engine);

/// Probabilities of the bytes of a block scale (nvfp4, mxfp4); histograms say nothing of scales: those of gauss.
std::vector<double> scale_probabilities(MacFormat format, Distribution distribution);

/// Rung L0 of nvfp4, fp8 or integers from a fresh sample: of all leaves, or of leaves that are alike
/// (features_unit.hpp).
Features sampled_features(const MacQuestion& question, bool alike);

}  // namespace narrowgauge::power
