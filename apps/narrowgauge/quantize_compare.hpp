// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/quant/compare.hpp"

namespace narrowgauge::cli {

/// Prints which elements of `x` two dialects treat differently, how often and why.
void report_difference(const io::Matrix& x, Axis axis, std::string_view axis_name, const std::array<Dialect, 2>& d,
                       const DialectInputs& inputs, std::size_t examples, bool json);

}  // namespace narrowgauge::cli
