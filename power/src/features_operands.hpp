// SPDX-License-Identifier: Apache-2.0
// How often each code of an operand occurs. Private to ng_power.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "narrowgauge/power/features.hpp"

namespace narrowgauge::power {

/// Probabilities of the codes 0 ... 2^bits - 1, for operands of at most 16 bits. Throws Error if a histogram has not
/// that many entries, or one below 0, or none above 0.
std::vector<double> code_probabilities(const MacSpec& mac, bool b, const OperandStatistics& statistics);

/// n FP32 codes, finite: uniform codes, or normal values.
std::vector<std::uint32_t> float_codes(Distribution distribution, std::size_t n, std::mt19937_64& engine);

/// The same for the bytes of a block scale (nvfp4, mxfp4); histograms say nothing of scales: those of gauss.
std::vector<double> scale_probabilities(MacFormat format, Distribution distribution);

}  // namespace narrowgauge::power
