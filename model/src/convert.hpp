// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels.hpp"

namespace narrowgauge::detail {

/// The tables of a format with a zero under these options, for the encode kernels. Their codes have the sign bit and
/// the magnitude, NaN apart: recode() what comes out.
Encoding make_encoding(const FormatDesc& f, const RoundOptions& options);

/// Makes codes of the numbers x, with sign bit and magnitude, what the format stores. Nothing unless it recodes().
template <class Real, class Code>
void recode(const FormatDesc& f, std::span<const Real> x, std::span<Code> codes) {
  const auto sign = static_cast<Code>(f.sign_mask());
  if (f.complement) {
    for (Code& code : codes) code = code & sign ? static_cast<Code>(f.with_sign(true, code ^ sign)) : code;
  } else if (f.nan == NanKind::fnuz) {  // NaN, and what became NaN by its size, is not below 1
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = codes[i] == sign && x[i] > -1 && x[i] < 1 ? Code{0} : codes[i];
    }
  }
}

}  // namespace narrowgauge::detail
