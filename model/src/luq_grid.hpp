// SPDX-License-Identifier: Apache-2.0
// The grid of LUQ under one scale, tabulated: 0, and alpha * 2^f for f below `levels`.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "narrowgauge/luq/luq.hpp"

namespace narrowgauge::detail {

class LuqGrid {
 public:
  LuqGrid(float alpha, int levels, LuqRounding rounding, int random_bits)
      : levels_(static_cast<unsigned>(levels)),
        sign_(levels == luq_storage_levels ? 1U << 3 : 1U << 4),
        nearest_(rounding == LuqRounding::nearest_power),
        words_(std::ldexp(1.0, random_bits)) {
    // Nothing reaches NaN: not the places above the grid, and on top nothing is rounded up.
    value_.fill(std::numeric_limits<double>::quiet_NaN());
    for (unsigned f = 0; f < levels_; ++f) value_[f] = std::ldexp(double{alpha}, static_cast<int>(f));
    for (unsigned field = 0; field < levels_; ++field) {
      low_[field] = field == 0 ? 0 : value_[field - 1];
      step_[field] = field == 0 ? double{alpha} : low_[field];
    }
    step_[levels_] = std::numeric_limits<double>::quiet_NaN();
  }

  /// The code of x; `random` has random_bits bits.
  std::uint8_t code(float x, std::uint32_t random) const {
    const double magnitude = std::fabs(double{x});
    unsigned field = 0;  // of the largest number of the grid that is not above |x|
    for (std::size_t f = 0; f < luq_paper_levels; ++f) field += value_[f] <= magnitude ? 1U : 0U;
    // Each side is exact: alpha has 24 bits, what it is multiplied by 25.
    const double low = low_[field], step = step_[field];
    if (nearest_) {
      const double middle = low + step / 2;
      field += (field == 0 ? magnitude > middle : magnitude >= middle) ? 1U : 0U;
    } else {
      field += magnitude * words_ >= low * words_ + step * (words_ - random) ? 1U : 0U;
    }
    return static_cast<std::uint8_t>((std::signbit(x) ? sign_ : 0U) | field);
  }

 private:
  unsigned levels_, sign_;
  bool nearest_;
  double words_;
  std::array<double, luq_paper_levels> value_{};
  std::array<double, luq_paper_levels + 1> low_{}, step_{};
};

}  // namespace narrowgauge::detail
