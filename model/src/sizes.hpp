// SPDX-License-Identifier: Apache-2.0
// Sizes that a caller says, against those that are there.
#pragma once

#include <cstddef>

namespace narrowgauge::detail {

/// Whether `size` is a * b, which may be beyond std::size_t.
constexpr bool is_product(std::size_t size, std::size_t a, std::size_t b) {
  return a == 0 || b == 0 ? size == 0 : size % a == 0 && size / a == b;
}

}  // namespace narrowgauge::detail
