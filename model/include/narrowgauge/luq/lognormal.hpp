// SPDX-License-Identifier: Apache-2.0
// Neural gradients are near-lognormal (arXiv 2006.08173): which split of exponent and mantissa a tensor wants, and the
// threshold that prunes it stochastically to a wanted sparsity. The rules are on docs/luq.md, Near-lognormal gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

/// Of a tensor's non-zero magnitudes.
struct LogStatistics {
  std::size_t count = 0;  ///< of all numbers
  std::size_t zeros = 0;
  double mean = 0;   ///< of log2|x|; 0 if there are only zeros
  double sigma = 0;  ///< standard deviation of log2|x|
  float amax = 0;
};

/// In double, in order. Throws Error on NaN, infinity and an empty tensor.
LogStatistics log_statistics(std::span<const float> x);

/// Exponent bits of the best format of `bits` bits (3 to 8) with a sign, for this standard deviation of log2|x|: 1, and
/// one more for each threshold of the authors' code that sigma has reached. Mantissa bits are the others, 0 at least.
/// Throws Error for other sizes, and a sigma that is negative or not finite.
int exponent_bits(int bits, double sigma);

/// What a tensor is multiplied by before it is converted: 2^-mean.
double lognormal_scale(double mean);

/// Expected share of zeros that the operator of prune() makes of a lognormal tensor: t = threshold / e^mu, sigma the
/// standard deviation of ln|x|, both positive.
double expected_sparsity(double t, double sigma);

/// Share of zeros that prune() leaves of this very tensor, expected over all random words: the mean of 1 - floor(|x| /
/// threshold 2^random_bits) / 2^random_bits where |x| < threshold, of 1 where x is zero, and of 0 elsewhere. Throws
/// Error as the prune() of a tensor.
double expected_sparsity(std::span<const float> x, float threshold, int random_bits = 8);

/// The threshold tau under which prune() leaves a share of `target` zeros, where ln|x| of the non-zero numbers has the
/// given mean and standard deviation and a share `zeros` is zero already. Throws Error unless zeros <= target < 1, 0 <=
/// zeros, and sigma is positive and finite. 0 if target == zeros.
double pruning_threshold(double target, double mean, double sigma, double zeros = 0);

/// The threshold for a tensor of these statistics: 0 if its zeros are that many already, and where all magnitudes are
/// equal, sigma 0, the limit. In double: of extreme statistics it may lie beyond FP32. Throws Error unless 0 <= target
/// < 1.
double pruning_threshold(double target, const LogStatistics& s);

/// Stochastic pruning: x where |x| >= threshold, else the threshold with the sign of x if and only if floor(|x| /
/// threshold 2^random_bits) + random >= 2^random_bits, else 0 with the sign of x. Unbiased where random_bits, 1 to 24,
/// hold |x| / threshold. `threshold` is finite and not negative; 0 leaves all as it is.
float prune(float x, float threshold, std::uint32_t random, int random_bits = 8);

/// Of each number of a tensor: element i takes field i of random_fields(seed). Throws Error on NaN, infinity and an
/// empty tensor, a threshold that is negative or not finite, and random_bits other than 1 to 24.
std::vector<float> prune(std::span<const float> x, float threshold, std::uint64_t seed, int random_bits = 8);

}  // namespace narrowgauge
