// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/luq/lognormal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

LogStatistics log_statistics(std::span<const float> x) {
  if (x.empty()) throw Error("x is empty: expected at least one number");
  LogStatistics s{.count = x.size()};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      throw Error("element " + std::to_string(i) + " is " + std::to_string(x[i]) +
                  ": expected finite numbers; mend or mask them first");
    }
    s.amax = std::max(s.amax, std::fabs(x[i]));
    if (x[i] == 0) {
      ++s.zeros;
    } else {
      s.mean += std::log2(std::fabs(double{x[i]}));
    }
  }
  const std::size_t present = s.count - s.zeros;
  if (present == 0) return s;
  s.mean /= static_cast<double>(present);
  double squares = 0;
  for (const float v : x) {
    if (v == 0) continue;
    const double d = std::log2(std::fabs(double{v})) - s.mean;
    squares += d * d;
  }
  s.sigma = std::sqrt(squares / static_cast<double>(present));
  return s;
}

int exponent_bits(int bits, double sigma) {
  static const std::array<std::vector<double>, 6> thresholds{
      {{0.7}, {0.5, 1.2}, {0.2, 1, 2.4}, {0.3, 0.9, 2, 4.9}, {0.3, 0.7, 1.7, 4, 9.4}, {0.1, 0.6, 1.4, 3.7, 8.1, 19.3}}};
  if (bits < 3 || bits > 8) throw Error("bits is " + std::to_string(bits) + ": expected 3 to 8, the sign included");
  if (!(std::isfinite(sigma) && sigma >= 0)) {
    throw Error("sigma is " + std::to_string(sigma) + ": expected a finite number, 0 or more");
  }
  const std::vector<double>& steps = thresholds[static_cast<std::size_t>(bits - 3)];
  return 1 + static_cast<int>(std::count_if(steps.begin(), steps.end(), [&](double t) { return sigma >= t; }));
}

double lognormal_scale(double mean) { return std::exp2(-mean); }

double expected_sparsity(double t, double sigma) {
  // Phi(z) - e^(sigma^2 / 2) / t Phi(z - sigma), z = ln t / sigma. The logarithm of the factor is added in the
  // exponent, so that it does not overflow where the distribution function underflows.
  const double z = std::log(t) / sigma;
  const double below = normal_cdf(z - sigma);
  const double kept = below > 0 ? std::exp(sigma * sigma / 2 - std::log(t) + std::log(below)) : 0;
  return std::clamp(normal_cdf(z) - kept, 0.0, 1.0);
}

double pruning_threshold(double target, double mean, double sigma, double zeros) {
  if (!(zeros >= 0 && target >= zeros && target < 1)) {
    throw Error("the target sparsity is " + std::to_string(target) + ", of which " + std::to_string(zeros) +
                " is zero already: expected a share not below that and below 1");
  }
  if (!(std::isfinite(sigma) && sigma > 0 && std::isfinite(mean))) {
    throw Error("sigma is " + std::to_string(sigma) + ": expected a positive finite number, and a finite mean");
  }
  if (target == zeros) return 0;
  const double wanted = (target - zeros) / (1 - zeros);
  double low = -40 * sigma - 40, high = 40 * sigma + 40;  // of ln t; sparsity grows with t
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (expected_sparsity(std::exp(middle), sigma) < wanted ? low : high) = middle;
  }
  return std::exp(mean + (low + high) / 2);
}

float prune(float x, float threshold, std::uint32_t random, int random_bits) {
  const double magnitude = std::fabs(double{x}), words = std::ldexp(1.0, random_bits);
  if (magnitude >= threshold) return x;
  // Exact: 24 bits times 25.
  return std::copysign(magnitude * words >= double{threshold} * (words - random) ? threshold : 0.0F, x);
}

}  // namespace narrowgauge
