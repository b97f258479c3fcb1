// SPDX-License-Identifier: Apache-2.0
// Sets of operand formats: what an array, a tile or a dot product of the RTL can multiply. The table is generated
// (format_set_table.inc) from model/formats.json, as are the RTL's package and the registers' enumerations.
#pragma once

#include <array>
#include <string_view>

#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

struct OperandFormat {
  std::string_view name;
  unsigned mask;    ///< its bit in a set; of MX that of the elements that are sent
  unsigned code;    ///< in the register FORMAT and at the ports a_fmt_i, b_fmt_i
  unsigned number;  ///< in the driver (ng_format_t)
  Scheme scheme;
  Format element;
};

#include "narrowgauge/quant/format_set_table.inc"

/// The row of an operand's format (INT4's is LUQ's); null where no RTL has it.
constexpr const OperandFormat* find_operand_format(Scheme scheme, Format element) {
  for (const OperandFormat& f : operand_formats)
    if (f.scheme == product_scheme(scheme) && f.element == element) return &f;
  return nullptr;
}

namespace format_set {

/// The set of this one format; empty (0) where no RTL has it.
constexpr unsigned of(Scheme scheme, Format element) {
  const OperandFormat* format = find_operand_format(scheme, element);
  return format ? format->mask : 0;
}

/// Both operands of a product are in the set, which is one of MX formats or one of others.
constexpr bool has(unsigned set, bool mx, Scheme scheme, Format a, Format b) {
  return is_mx(scheme) == mx && (set & of(scheme, a)) != 0 && (set & of(scheme, b)) != 0;
}
constexpr bool has(unsigned set, bool mx, const GemmFormat& product) {
  return has(set, mx, product.scheme, product.a, product.b);
}

/// Bits of an element in the array, whichever of the set's formats is computed. `mx`: they are MX's.
constexpr unsigned element_bits(unsigned set, bool mx = false) { return (set & (mx ? mx_bits8 : bits8)) != 0 ? 8 : 4; }

}  // namespace format_set

}  // namespace narrowgauge
