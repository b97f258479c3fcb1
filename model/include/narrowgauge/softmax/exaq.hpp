// SPDX-License-Identifier: Apache-2.0
// EXAQ (arXiv 2410.03185): softmax of scores that are quantized to 2, 3 or 4 bits. A row's exponentials have 2^bits
// values, so the sum is one over counts, and the row has 2^bits probabilities. Contract: docs/softmax.md. RTL twins:
// rtl/softmax/.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "narrowgauge/format/format.hpp"
#include "narrowgauge/format/round_pack.hpp"

namespace narrowgauge {

// ---- The paper's rule

/// The clipping point C that the paper's linear rule gives to scores of standard deviation `sigma`: 0 where sigma is 0.
/// Throws Error unless sigma is finite and not negative, and bits are 2 to 4.
double exaq_clip(double sigma, int bits);

/// Standard deviation (divided by n - 1) of s - m over all attended scores, m being the largest attended score of its
/// row, s - m rounded to FP32. `scores`, `mask`: rows of `columns`; a mask of 0 leaves a score out. 0 for fewer than
/// two scores. Throws Error for sizes that do not fit and for attended scores that are not finite.
double exaq_sigma(std::span<const float> scores, std::span<const std::uint8_t> mask, std::size_t columns);

/// 2^bits - 1 thresholds: the code of s - m is the number of those that are not above it. They are the points at which
/// round((max(t, C) - C) * scale) steps, in FP32, an operation at a time, scale = (2^bits - 1) / -C in FP64 and
/// rounded. -infinity if C is 0: all codes are 2^bits - 1. Throws Error unless C is 0 or from -1e30 to -1e-30.
std::vector<float> exaq_thresholds(double clip, int bits);

/// The 2^bits numbers that the codes stand for, k / scale + C in FP32: the last is not always 0. All 0 if C is 0.
/// Throws Error as exaq_thresholds does.
std::vector<float> exaq_levels(double clip, int bits);

/// Code of a score that is not attended.
inline constexpr std::uint8_t exaq_masked = 255;

/// Codes of rows of `columns` scores; exaq_masked where the mask is 0. Throws Error as exaq_sigma does, and unless
/// there are 3, 7 or 15 thresholds.
std::vector<std::uint8_t> exaq_codes(std::span<const float> scores, std::span<const std::uint8_t> mask,
                                     std::size_t columns, std::span<const float> thresholds);

/// Probabilities of codes, exp(level) over the sum of its row, found in FP64 from the row's counts and rounded once.
/// A code of exaq_masked has 0, so a row of nothing else has no probability at all. Throws Error for sizes that do not
/// fit and other codes above the levels.
std::vector<float> exaq_softmax(std::span<const std::uint8_t> codes, std::size_t columns,
                                std::span<const float> levels);

// ---- In hardware: integers only

/// Keys of BF16 scores: unsigned integers in the order of the numbers, -0 just below +0, NaNs at both ends.
constexpr std::uint16_t bf16_key(std::uint16_t code) {
  return static_cast<std::uint16_t>(code & 0x8000U ? ~code : code | 0x8000U);
}
/// The BF16 code of a key.
constexpr std::uint16_t bf16_of_key(std::uint16_t key) {
  return static_cast<std::uint16_t>(key & 0x8000U ? key & 0x7FFFU : ~key);
}

/// The largest attended key; none where the mask, bit i of which is key i, is 0.
constexpr std::optional<std::uint32_t> exaq_row_max(std::span<const std::uint32_t> keys, std::uint64_t mask) {
  std::optional<std::uint32_t> largest;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (mask >> i & 1) largest = std::max(largest.value_or(0), keys[i]);
  }
  return largest;
}

/// The thresholds moved to the scores: key k is that of the smallest BF16 number s for which s - m, rounded to FP32, is
/// at least thresholds[k]; m is the number of `maximum`. Throws Error unless m is finite.
std::vector<std::uint16_t> exaq_key_thresholds(std::uint16_t maximum, std::span<const float> thresholds);

/// The number of thresholds that are not above the key.
constexpr std::uint32_t exaq_key_code(std::uint32_t key, std::span<const std::uint16_t> thresholds) {
  return static_cast<std::uint32_t>(
      std::count_if(thresholds.begin(), thresholds.end(), [&](std::uint32_t threshold) { return key >= threshold; }));
}

/// Entries e_k of the table of exponentials, UQ0.16: exp(level) * 65535, rounded to nearest even. The largest is 65535,
/// and the common factor 65535/65536 cancels in every probability.
std::vector<std::uint16_t> exaq_table(std::span<const float> levels);

/// Thermometer counts of a row's codes: [k] is how many codes are k or more, so [0] counts the attended ones.
std::vector<std::uint32_t> exaq_counts(std::span<const std::uint8_t> codes, int bits);

/// S = n e_0 + sum of c_k (e_k - e_(k-1)), of counts that do not rise, [0] being n: UQ16.16 for rows of up to 65535.
constexpr std::uint32_t exaq_row_sum(std::span<const std::uint32_t> counts, std::span<const std::uint16_t> table) {
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    sum += (counts[k] - (k + 1 < counts.size() ? counts[k + 1] : 0)) * table[k];
  }
  return sum;
}

/// (-1)^negative * numerator / denominator, rounded once to FP32 (nearest even): a code; 0 where one of them is 0.
constexpr std::uint32_t exaq_quotient(std::uint64_t numerator, std::uint32_t denominator, bool negative = false) {
  if (numerator == 0 || denominator == 0) return 0;
  const int shift =
      std::countl_zero(numerator);  // so that the quotient has 32 bits or more, and the last may be sticky
  const std::uint64_t quotient = (numerator << shift) / denominator, rest = (numerator << shift) % denominator;
  return round_pack(desc(Format::fp32), negative, -shift, quotient | (rest != 0));
}

/// The probability of a code in a row of sum S: e_k / S, rounded once; no probability is above 1, and all are 0 where S
/// is.
constexpr std::uint32_t exaq_probability(std::uint16_t exponential, std::uint32_t sum) {
  return exponential >= sum && sum != 0 ? 0x3F800000 : exaq_quotient(exponential, sum);
}

/// What ng_exaq_row makes of a row.
struct ExaqRow {
  std::uint32_t sum = 0;             ///< S, in units of 2^-16
  std::vector<float> probabilities;  ///< of the codes
  bool empty = false;                ///< no attended score has a weight: all probabilities are 0
};

/// Sum and probabilities from counts and table, 4, 8 or 16 each. Throws Error for other sizes, counts that rise, and
/// more than 65535 scores.
ExaqRow exaq_row(std::span<const std::uint32_t> counts, std::span<const std::uint16_t> table);

/// P V of one row: sums of planes, V where a code is k or more, weighted by e_k - e_(k-1), over S, rounded once. v: a
/// row of `width` INT8 for each code; 0 for a row with nothing attended. Throws Error as exaq_row does.
std::vector<float> exaq_attention(std::span<const std::uint8_t> codes, std::span<const std::uint16_t> table,
                                  std::span<const std::int8_t> v, std::size_t width);

}  // namespace narrowgauge
