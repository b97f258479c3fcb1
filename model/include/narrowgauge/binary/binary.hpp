// SPDX-License-Identifier: Apache-2.0
// Binary networks: dot products of bits by XNOR or AND and popcount, thresholds that hold a batch norm, and ReActNet's
// binary layer (arXiv 2003.03488), which BD-BNN trains (arXiv 2204.02004). Contract: docs/binary.md. RTL twins:
// rtl/binary/.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

/// What two bits are multiplied by: numbers +1 and -1 by XNOR, bits of two planes by AND.
enum class BitProduct : std::uint8_t { xnor_of_signs, and_of_planes };

/// The products of the bits that `valid` has set.
constexpr std::uint64_t bit_products(std::uint64_t x, std::uint64_t w, std::uint64_t valid, BitProduct product) {
  return (product == BitProduct::xnor_of_signs ? ~(x ^ w) : x & w) & valid;
}

/// How many products of bits are 1. Words of equal number, the first element in bit 0 of the first word.
constexpr std::uint32_t popcount_dot(std::span<const std::uint64_t> x, std::span<const std::uint64_t> w,
                                     std::span<const std::uint64_t> valid, BitProduct product) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += static_cast<std::uint32_t>(std::popcount(bit_products(x[i], w[i], valid[i], product)));
  }
  return sum;
}

/// The dot product of numbers +1 and -1 from the popcount of their XNOR over n_valid of them.
constexpr std::int64_t xnor_dot(std::uint32_t popcount, std::uint32_t n_valid) {
  return 2 * std::int64_t{popcount} - n_valid;
}

/// The comparison that makes a bit of a popcount.
struct PopcountThreshold {
  std::int64_t value = 0;
  bool at_most = false;  ///< the bit is popcount <= value; else it is popcount >= value

  constexpr bool operator()(std::int64_t popcount) const { return at_most ? popcount <= value : popcount >= value; }
  bool operator==(const PopcountThreshold&) const = default;
};

/// The comparison that gives the sign of a batch norm over scale times a dot product of n numbers +1 and -1:
///
///   gamma (scale (2 popcount - n) - mean) / sqrt(variance + epsilon) + beta >= 0
///
/// In FP64; the value is ceil(t) for gamma > 0 and floor(t) for gamma < 0, t = (z / scale + n) / 2 and
/// z = mean - beta sqrt(variance + epsilon) / gamma. Where gamma or scale is 0 the bit is a constant: popcount >= 0, or
/// popcount >= n + 1. Throws Error unless all numbers are finite, variance and scale are not negative, epsilon is
/// positive, and n is below 2^31.
PopcountThreshold fuse_batch_norm(double gamma, double beta, double mean, double variance, std::uint32_t n,
                                  double scale = 1, double epsilon = 1e-5);

/// The same comparison of popcounts 0 to n with a value of 0 to n + 1, which is what ng_dot_xnor takes.
constexpr PopcountThreshold fitted(const PopcountThreshold& threshold, std::uint32_t n) {
  if (threshold.value < 0) return {.value = threshold.at_most ? std::int64_t{n} + 1 : 0, .at_most = false};
  if (threshold.value > n) return {.value = threshold.at_most ? 0 : std::int64_t{n} + 1, .at_most = false};
  return threshold;
}

/// Activations of a binary layer: 1 where x > shift, 0 elsewhere. x: rows of as many elements as there are shifts, or
/// any for one shift. Throws Error for sizes that do not fit and for NaNs.
std::vector<std::uint8_t> binarize(std::span<const float> x, std::span<const float> shift);

/// Weights of a binary layer, a row for each output channel.
struct BinaryWeights {
  std::vector<std::uint8_t> bits;  ///< 1 where w > 0: +1; 0 elsewhere: -1
  std::vector<float> scale;        ///< of a row, the mean of |w|, summed in FP64 and rounded once
};

/// Throws Error unless w has rows of `columns`, 1 or more, and is finite.
BinaryWeights binarize_weights(std::span<const float> w, std::size_t columns);

/// Popcounts of all rows of x with all rows of w: [row of x][row of w]. Bits stand packed in rows of bytes, the first
/// element in bit 0 of the first byte; bits from n on do not count. valid: rows as x has, or empty, which makes all n
/// valid. Throws Error for sizes that do not fit and unless n is 1 to 2^31 - 1.
std::vector<std::uint32_t> popcount_gemm(std::span<const std::uint8_t> x, std::span<const std::uint8_t> w,
                                         std::span<const std::uint8_t> valid, std::size_t n, BitProduct product);

/// Sums of the rows of v that each plane selects: [plane][column]. planes: a byte for each row of v, 0 or not, a plane
/// after the other. v: rows of `columns`. Throws Error for sizes that do not fit.
std::vector<std::int64_t> plane_sums(std::span<const std::uint8_t> planes, std::span<const std::int8_t> v,
                                     std::size_t columns);

}  // namespace narrowgauge
