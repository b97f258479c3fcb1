// SPDX-License-Identifier: Apache-2.0
// What the quantizers have in common.
#pragma once

#include <cstddef>
#include <span>

namespace narrowgauge::detail {

/// The largest magnitude of rows of `cols`; throws Error, naming the place, on NaN and infinities.
float find_amax(std::span<const float> x, std::size_t cols, unsigned threads);
/// The largest finite magnitude; 0 if there is none.
float largest_finite(std::span<const float> x, unsigned threads);

}  // namespace narrowgauge::detail
