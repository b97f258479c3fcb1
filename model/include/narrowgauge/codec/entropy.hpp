// SPDX-License-Identifier: Apache-2.0
// What training for compression needs, after "CAT: Compression-aware training for bandwidth reduction", arXiv
// 1909.11481.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

/// -sum p log2 p over the shares p of the bytes, in bits; 0 for none.
double entropy(std::span<const std::uint8_t> values);

struct SoftEntropy {
  double bits = 0;
  std::vector<double> gradient;  ///< of bits by each value, the smallest and largest held fixed
};
/// The entropy of values quantized to `bits` bits between their smallest and largest, made differentiable: with
/// u = (x - min) (2^bits - 1) / (max - min), a value belongs to code k to the share softmax over k of
/// sharpness (u - k)^2, and the entropy is that of the mean shares. 0 for values that are all alike. Throws Error for
/// no values, numbers that are not finite, bits that are not 1 to 8, a sharpness that is not below 0.
SoftEntropy soft_entropy(std::span<const float> x, unsigned bits, double sharpness = -10);

/// Where to clip a map before it is quantized: mean + sigmas x standard deviation (of N values, not N - 1), at most the
/// largest value. Throws Error for no values, numbers that are not finite, sigmas that are not above 0, a result that
/// is not above 0.
double clip_limit(std::span<const float> x, double sigmas = 3);

}  // namespace narrowgauge
