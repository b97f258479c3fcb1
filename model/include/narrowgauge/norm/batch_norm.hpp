// SPDX-License-Identifier: Apache-2.0
// Batch normalization by other statistics than the variance: Range BN (arXiv 1805.11046), and L1, L2, top-k and ghost
// top-k (arXiv 1803.01814), forward and backward. Contract: docs/normalization.md. Arrays are channel-major: all
// numbers of a channel stand together, in the order of the batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace narrowgauge {

/// What is measured of a channel; d is |x - mean|, N the number of its elements.
enum class NormStatistic : std::uint8_t {
  range,   ///< K(n) (mean of the chunks' maxima - mean of their minima), n being the length of a chunk
  l1,      ///< sqrt(pi / 2) mean(d)
  l1_raw,  ///< mean(d)
  l2,      ///< mean(d^2), the variance
  top_k,   ///< c(N) times the mean of the k largest d
  ghost    ///< c(N) (0.75 of the value before + 0.25 of the mean of the k largest d)
};

/// Numbers that scale, gamma and beta are rounded to before they are used.
enum class NormGrid : std::uint8_t {
  fp32,   ///< they are used as they are
  bf16,   ///< BF16, which keeps the scale of every channel to 8 bits
  paper,  ///< 256 numbers from the smallest to the largest of all channels, as the code of arXiv 1805.11046 has it
};

struct BatchNormRule {
  std::string_view name;
  std::string_view origin;  ///< whose rule it is
  NormStatistic statistic = NormStatistic::range;
  /// y divides by spread + epsilon, and the running buffer averages the spread: CalibTIP's later Range BN. Else y
  /// multiplies by the scale, and the buffer averages the scale.
  bool divides = false;
};

inline constexpr std::array<BatchNormRule, 7> batch_norm_rules{{
    {.name = "range", .origin = "eladhoffer/quantized.pytorch, RangeBN"},
    {.name = "range_calibtip", .origin = "itayhubara/CalibTIP (AdaQuant), its Range BN", .divides = true},
    {.name = "l1", .origin = "eladhoffer/norm_matters, L1 with sqrt(pi / 2)", .statistic = NormStatistic::l1},
    {.name = "l1_raw", .origin = "eladhoffer/norm_matters, L1 without a factor", .statistic = NormStatistic::l1_raw},
    {.name = "l2", .origin = "eladhoffer/norm_matters, L2", .statistic = NormStatistic::l2},
    {.name = "top_k", .origin = "eladhoffer/norm_matters, top-k", .statistic = NormStatistic::top_k},
    {.name = "ghost_top_k", .origin = "eladhoffer/norm_matters, ghost top-10", .statistic = NormStatistic::ghost},
}};

/// The rule of this name; throws Error with the names if there is none.
const BatchNormRule& find_batch_norm_rule(std::string_view name);

/// How a rule is applied.
struct BatchNormOptions {
  NormGrid grid = NormGrid::bf16;
  std::size_t chunks = 16;  ///< of the range
  std::size_t top = 10;     ///< k of top-k and ghost top-k
  double epsilon = 1e-5;
};

/// K(n) = 0.175 (1 + sqrt(pi ln 4)) / sqrt(2 ln n), which makes a normal distribution's range its standard deviation.
/// Throws Error unless n is 2 or more.
double range_constant(std::size_t chunk);
/// c(N) = 0.5 (1 + sqrt(pi ln 4)) / sqrt(2 ln N) of the largest distances. Throws Error unless N is 2 or more.
double top_constant(std::size_t count);

/// Numbers of the channels, rounded to FP32 from exact or FP64 sums.
struct BatchNormParameters {
  std::vector<float> mean;
  std::vector<float> spread;                             ///< the statistic; of ghost the state of the next step
  std::vector<float> scale;                              ///< 1 / (spread + epsilon), of l2 1 / sqrt(spread + epsilon)
  std::vector<float> scale_used, gamma_used, beta_used;  ///< on the grid
};

/// Numbers on a grid, as BatchNormParameters has them. Throws Error for numbers that are not finite.
std::vector<float> on_norm_grid(NormGrid grid, std::span<const float> values);

/// Statistics of a training step of `gamma.size()` channels. previous: of ghost the spread of the step before, or
/// nothing at the first one. Throws Error for sizes that do not fit, numbers that are not finite, chunks that do not
/// divide a channel or hold one number, k beyond the channel, and an epsilon that is not positive.
BatchNormParameters batch_norm_parameters(const BatchNormRule& rule, const BatchNormOptions& options,
                                          std::span<const float> x, std::span<const float> gamma,
                                          std::span<const float> beta, std::span<const float> previous = {});

/// As before, of the rules of a range, from INT8 codes: a code stands for (code + 128) * step + low. Sums are integers,
/// and mean and range are each rounded once. Throws Error too unless step is positive and finite, low finite, and
/// range_stats takes the channel.
BatchNormParameters range_norm_parameters(const BatchNormRule& rule, const BatchNormOptions& options,
                                          std::span<const std::int8_t> codes, float step, float low,
                                          std::span<const float> gamma, std::span<const float> beta);

/// Parameters of evaluation, from running buffers: `running` holds scales, or spreads where the rule divides.
BatchNormParameters batch_norm_running(const BatchNormRule& rule, const BatchNormOptions& options,
                                       std::span<const float> mean, std::span<const float> running,
                                       std::span<const float> gamma, std::span<const float> beta);

/// y = ((x - mean) * scale) * gamma + beta with the numbers on the grid, or (x - mean) / (spread + epsilon) instead of
/// the product with the scale, an FP32 operation at a time.
std::vector<float> batch_norm_apply(const BatchNormRule& rule, const BatchNormOptions& options,
                                    std::span<const float> x, const BatchNormParameters& parameters);

struct BatchNormGradients {
  std::vector<float> x, gamma, beta;
};

/// Gradients of a training step, g being those of y. The rounding to the grid passes them through. Sums are FP64, and
/// each result is rounded once. Of ghost the value before is a constant. Throws Error as batch_norm_parameters does.
BatchNormGradients batch_norm_backward(const BatchNormRule& rule, const BatchNormOptions& options,
                                       std::span<const float> x, const BatchNormParameters& parameters,
                                       std::span<const float> g);

}  // namespace narrowgauge
