// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/luq/lognormal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {
namespace {

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// e^(sigma^2 / 2) / t Phi(z - sigma), which is phi(z) Phi(-y) / phi(y), y = sigma - z, phi the density: the second
/// quotient by its asymptotic series where Phi(-y) underflows.
double share_kept(double z, double t, double sigma) {
  const double y = sigma - z;
  if (y > 30) {
    const double w = 1 / (y * y);
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    return density / y * (1 - w * (1 - 3 * w * (1 - 5 * w)));
  }
  const double below = normal_cdf(-y);
  // The logarithm of the factor is added in the exponent, so that it does not overflow.
  return below > 0 ? std::exp(sigma * sigma / 2 - std::log(t) + std::log(below)) : 0;
}

void check_finite(std::span<const float> x) {
  if (x.empty()) throw Error("x is empty; expected at least one number");
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      throw Error("element " + std::to_string(i) + " is " + std::to_string(x[i]) +
                  "; expected finite numbers; mend or mask them first");
    }
  }
}

void check_pruning(std::span<const float> x, float threshold, int random_bits) {
  check_finite(x);
  if (!(std::isfinite(threshold) && threshold >= 0)) {
    throw Error("the threshold is " + std::to_string(threshold) + "; expected a finite number of FP32, 0 or more");
  }
  if (random_bits < 1 || random_bits > 24) {
    throw Error("random_bits is " + std::to_string(random_bits) + "; expected 1 to 24");
  }
}

}  // namespace

LogStatistics log_statistics(std::span<const float> x) {
  check_finite(x);
  LogStatistics s{.count = x.size()};
  detail::Pace pace;
  for (std::size_t i = 0; i < x.size(); ++i) {
    pace();
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
    pace();
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
  if (bits < 3 || bits > 8) throw Error("bits is " + std::to_string(bits) + "; expected 3 to 8, the sign included");
  if (!(std::isfinite(sigma) && sigma >= 0)) {
    throw Error("sigma is " + std::to_string(sigma) + "; expected a finite number, 0 or more");
  }
  const std::vector<double>& steps = thresholds[static_cast<std::size_t>(bits - 3)];
  return 1 + static_cast<int>(std::count_if(steps.begin(), steps.end(), [&](double t) { return sigma >= t; }));
}

double lognormal_scale(double mean) { return std::exp2(-mean); }

double expected_sparsity(double t, double sigma) {
  const double z = std::log(t) / sigma;
  return std::clamp(normal_cdf(z) - share_kept(z, t, sigma), 0.0, 1.0);
}

double expected_sparsity(std::span<const float> x, float threshold, int random_bits) {
  check_pruning(x, threshold, random_bits);
  const double words = std::ldexp(1.0, random_bits);
  double zeros = 0;
  detail::Pace pace;
  for (const float v : x) {
    pace();
    const double magnitude = std::fabs(double{v});
    // The floor is that of the exact quotient: of two numbers of 24 bits it lies further than half a unit in the last
    // place of double below the next integer.
    if (magnitude < threshold) {
      zeros += 1 - std::floor(magnitude * words / threshold) / words;
    } else {
      zeros += magnitude == 0;
    }
  }
  return zeros / static_cast<double>(x.size());
}

double pruning_threshold(double target, double mean, double sigma, double zeros) {
  if (!(zeros >= 0 && target >= zeros && target < 1)) {
    throw Error("the target sparsity is " + std::to_string(target) + ", of which " + std::to_string(zeros) +
                " is zero already; expected a share not below that and below 1");
  }
  if (!(std::isfinite(sigma) && sigma > 0 && std::isfinite(mean))) {
    throw Error("sigma is " + std::to_string(sigma) + "; expected a positive finite number, and a finite mean");
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

double pruning_threshold(double target, const LogStatistics& s) {
  if (!(target >= 0 && target < 1)) {
    throw Error("the target sparsity is " + std::to_string(target) + "; expected a share, 0 or more and below 1");
  }
  const double zeros = s.count == 0 ? 0 : static_cast<double>(s.zeros) / static_cast<double>(s.count);
  if (target <= zeros) return 0;
  // All magnitudes are m: the share of zeros is 1 - m / tau.
  if (s.sigma == 0) return std::exp2(s.mean) * (1 - zeros) / (1 - target);
  return pruning_threshold(target, s.mean * std::numbers::ln2, s.sigma * std::numbers::ln2, zeros);
}

float prune(float x, float threshold, std::uint32_t random, int random_bits) {
  const double magnitude = std::fabs(double{x}), words = std::ldexp(1.0, random_bits);
  if (magnitude >= threshold) return x;
  // Exact: 24 bits times 25.
  return std::copysign(magnitude * words >= double{threshold} * (words - random) ? threshold : 0.0F, x);
}

std::vector<float> prune(std::span<const float> x, float threshold, std::uint64_t seed, int random_bits) {
  check_pruning(x, threshold, random_bits);
  std::vector<std::uint32_t> random(x.size());
  random_fields(seed, 0, random_bits, random);
  std::vector<float> pruned(x.size());
  detail::Pace pace;
  for (std::size_t i = 0; i < x.size(); ++i) {
    pace();
    pruned[i] = prune(x[i], threshold, random[i], random_bits);
  }
  return pruned;
}

}  // namespace narrowgauge
