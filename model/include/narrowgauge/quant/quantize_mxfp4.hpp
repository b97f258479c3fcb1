// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_mxfp4: one block by the rules of quant/rules.hpp, dialects `ocp_floor` and `ocp_rceil`
// (docs/dialects.md).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/quant/rules.hpp"

namespace narrowgauge {

struct Mxfp4Block {
  std::array<std::uint8_t, 32> codes{};  ///< E2M1
  std::uint8_t scale = 0;                ///< E8M0
  bool operator==(const Mxfp4Block&) const = default;
};

/// 32 BF16 codes; scales by OCP's floor rule or (`rceil`) FP32's amax fl(1/6), rounded up to a power of two. Elements
/// to nearest even, or stochastic with eight random bits each. Scale NaN (0xFF) and codes 0 if a number is a NaN or an
/// infinity.
inline Mxfp4Block quantize_mxfp4(std::span<const std::uint16_t, 32> x, bool rceil, bool stochastic,
                                 std::span<const std::uint8_t, 32> random) {
  const auto number = [](std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); };
  std::uint16_t amax = 0;
  for (const std::uint16_t code : x) amax = std::max<std::uint16_t>(amax, code & 0x7FFF);
  Mxfp4Block block;
  if (amax >= 0x7F80) {
    block.scale = 0xFF;
    return block;
  }
  if (rceil) {
    const auto r = std::bit_cast<std::uint32_t>(number(amax) * (1.0F / 6.0F));
    const std::uint32_t field = r >> 23;  // 2^-127 is code 0
    block.scale = static_cast<std::uint8_t>(field + ((r & 0x7FFFFF) > (field != 0 ? 0U : 0x400000U)));
  } else {
    block.scale = mx_block_scale(desc(Format::e2m1), number(amax));
  }
  const double unit = decode(Format::e8m0, block.scale);
  for (std::size_t i = 0; i < 32; ++i) {
    const RoundOptions options{
        .rounding = stochastic ? Rounding::stochastic : Rounding::nearest_even, .random = random[i], .random_bits = 8};
    block.codes[i] = static_cast<std::uint8_t>(quantize_element(desc(Format::e2m1), number(x[i]), unit, options));
  }
  return block;
}

}  // namespace narrowgauge
