// SPDX-License-Identifier: Apache-2.0
// RHT16 of one block of BF16 codes, as ng_rht16 has it: with a window of exponents, within which it is exact.
#pragma once

#include <array>
#include <cstdint>

namespace narrowgauge {

using Rht16Block = std::array<std::uint16_t, 16>;  ///< BF16 codes

/// The window that holds all finite BF16 numbers.
inline constexpr int rht16_full_window = 253;

struct Rht16Result {
  Rht16Block y;
  bool exact;  ///< y is what the exact sums give: nothing was cut off, and every element is finite
};

/// y_c = sum over r of d_r x_r (-1)^popcount(r and c) / 4, exact, rounded once to BF16, nearest even, overflow to
/// infinity; d = rht16_signs. With a block of finite numbers and the full window that is front_stage with
/// FrontStage::rht16.
///
/// window, 0 to 253: before, each element is cut off toward zero below the last place of the largest one less `window`
/// places, that is to a multiple of 2^(E - 134 - window), E the largest of all max(exponent field, 1). Elements
/// whose exponents are at most `window` below the largest keep all bits. Beyond the range Error is thrown.
/// A NaN or an infinity makes all 16 results 0x7FC0.
Rht16Result rht16(const Rht16Block& x, int window = rht16_full_window);

}  // namespace narrowgauge
