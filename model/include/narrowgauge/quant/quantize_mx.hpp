// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_mx: one block of an MX format, dialects `ocp_floor` and `ocp_rceil` (docs/dialects.md).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/quant/rules.hpp"

namespace narrowgauge {

struct MxBlock {
  std::array<std::uint8_t, 32> codes{};  ///< of the element format
  std::uint8_t scale = 0;                ///< E8M0
  bool operator==(const MxBlock&) const = default;
};

/// 32 BF16 codes; `element` is e2m1, e4m3 or e5m2. Scales by OCP's floor rule or (`rceil`) FP32's amax fl(1/V), V the
/// largest element, rounded up to a power of two. Elements to nearest even, or stochastic with eight random bits each.
/// Scale NaN (0xFF) and codes 0 if a number is a NaN or an infinity.
inline MxBlock quantize_mx(std::span<const std::uint16_t, 32> x, Format element, bool rceil, bool stochastic,
                           std::span<const std::uint8_t, 32> random) {
  const auto number = [](std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); };
  const FormatDesc& f = desc(element);
  std::uint16_t amax = 0;
  for (const std::uint16_t code : x) amax = std::max<std::uint16_t>(amax, code & 0x7FFF);
  MxBlock block;
  if (amax >= 0x7F80) {
    block.scale = 0xFF;
    return block;
  }
  if (rceil) {
    const auto r = std::bit_cast<std::uint32_t>(number(amax) * (1.0F / static_cast<float>(decode(f, f.max_code()))));
    const std::uint32_t field = r >> 23;  // 2^-127 is code 0
    block.scale = static_cast<std::uint8_t>(field + ((r & 0x7FFFFF) > (field != 0 ? 0U : 0x400000U)));
  } else {
    block.scale = mx_block_scale(f, number(amax));
  }
  const double unit = decode(Format::e8m0, block.scale);
  for (std::size_t i = 0; i < 32; ++i) {
    const RoundOptions options{
        .rounding = stochastic ? Rounding::stochastic : Rounding::nearest_even, .random = random[i], .random_bits = 8};
    block.codes[i] = static_cast<std::uint8_t>(encode(f, number(x[i]) / unit, options));  // exact quotient
  }
  return block;
}

}  // namespace narrowgauge
