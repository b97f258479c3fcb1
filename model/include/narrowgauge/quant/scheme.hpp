// SPDX-License-Identifier: Apache-2.0
// How elements and scales go together, as data. The table itself is generated (scheme_table.inc) from
// model/formats.json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "narrowgauge/format/format.hpp"

namespace narrowgauge {

/// One row of the table of schemes.
struct SchemeDesc {
  std::string_view name;
  std::size_t block;  ///< elements along the contraction that share one block scale of a byte; 1 where there is none
  Format scale;       ///< of block scales; of no meaning where there are none
  std::uint32_t elements;  ///< a bit for each format of elements, by its number
};

/// The set of these formats, a bit each.
constexpr std::uint32_t format_bits(std::initializer_list<Format> formats) {
  std::uint32_t bits = 0;
  for (const Format format : formats) bits |= std::uint32_t{1} << static_cast<unsigned>(format);
  return bits;
}
static_assert(format_table.size() <= 32);

#include "narrowgauge/quant/scheme_table.inc"

/// The row of a scheme.
constexpr const SchemeDesc& desc(Scheme scheme) { return scheme_table[static_cast<std::size_t>(scheme)]; }

/// Of the two schemes of LUQ's product the one that names it, luq; else the scheme itself.
constexpr Scheme product_scheme(Scheme scheme) { return scheme == Scheme::int4 ? Scheme::luq : scheme; }

/// Elements that share one block scale of a byte; 1 where there is none.
constexpr std::size_t block_size(Scheme scheme) { return desc(scheme).block; }

/// Whether there are block scales.
constexpr bool has_block_scales(Scheme scheme) { return block_size(scheme) != 1; }

/// The format of block scales, of schemes that have them.
constexpr Format scale_format(Scheme scheme) { return desc(scheme).scale; }

/// Whether block scales are powers of two in E8M0, and there is no FP32 scale.
constexpr bool is_mx(Scheme scheme) { return has_block_scales(scheme) && scale_format(scheme) == Format::e8m0; }

/// Whether a scheme has elements of this format.
constexpr bool has_element(Scheme scheme, Format element) {
  return (desc(scheme).elements & format_bits({element})) != 0;
}

/// The MX scheme of such elements; mxfp4 where there is none, which does not have them.
constexpr Scheme mx_scheme(Format element) {
  for (std::size_t i = 0; i < scheme_table.size(); ++i) {
    const auto scheme = static_cast<Scheme>(i);
    if (is_mx(scheme) && has_element(scheme, element)) return scheme;
  }
  return Scheme::mxfp4;
}

/// The scheme of this name ("nvfp4"). Throws Error, listing the known names, if there is none.
Scheme find_scheme(std::string_view name);

/// The name of the elements' format: "int4", or that of the table's row.
std::string_view element_name(Scheme scheme, Format element);

/// The names of the elements that a scheme has, as text: "e4m3 or e5m2".
std::string elements_text(Scheme scheme);

}  // namespace narrowgauge
