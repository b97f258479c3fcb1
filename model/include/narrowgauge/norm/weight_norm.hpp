// SPDX-License-Identifier: Apache-2.0
// Bounded weight norm (arXiv 1803.01814): weights whose norm training cannot change. Contract: docs/normalization.md.
// Arrays are row-major, a row for each output channel.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace narrowgauge {

/// Weights w_c = v_c / |v_c| * g_c * rho / |g|: directions v, and magnitudes g whose norm as a vector is kept at rho,
/// that of g when training began. Where g is empty, all rows have the magnitude rho: w_c = v_c * rho / |v_c|, rho being
/// the mean norm of the first weights' rows. Norms are FP64, and a weight is rounded once. Throws Error for sizes that
/// do not fit, numbers that are not finite, and norms of 0.
std::vector<float> bounded_weight_norm(std::span<const float> v, std::size_t rows, std::span<const float> g,
                                       double rho);

struct WeightNormGradients {
  std::vector<float> v, g;  ///< g is empty where the magnitudes are
};

/// Gradients of v and g from those of the weights. Throws Error as bounded_weight_norm does.
WeightNormGradients bounded_weight_norm_backward(std::span<const float> v, std::size_t rows, std::span<const float> g,
                                                 double rho, std::span<const float> weight_gradients);

}  // namespace narrowgauge
