// SPDX-License-Identifier: Apache-2.0
// The operand formats of matrix products, by the names that programs take. The table itself is generated
// (gemm_format_table.inc) from model/formats.json.
#pragma once

#include <array>
#include <string_view>

#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// What the two operands of a product are quantized to.
struct GemmFormat {
  std::string_view name;
  Scheme scheme;
  Format a, b;  ///< element formats of A (M x K) and B (K x N)
  std::string_view use;

  /// The scheme of A, and of B: luq's A is INT4.
  constexpr Scheme a_scheme() const { return scheme == Scheme::luq ? Scheme::int4 : scheme; }
  constexpr Scheme b_scheme() const { return scheme; }
};

#include "narrowgauge/quant/gemm_format_table.inc"

/// The row of this name. Throws Error, listing the known names, if there is none.
const GemmFormat& find_gemm_format(std::string_view name);

}  // namespace narrowgauge
