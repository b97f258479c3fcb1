// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_nvfp4: one block by the rules of quant/rules.hpp, dialect `narrowgauge` with
// nonfinite=nan_scale (docs/dialects.md).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "narrowgauge/quant/rules.hpp"

namespace narrowgauge {

struct Nvfp4Block {
  std::array<std::uint8_t, 16> codes{};  ///< E2M1
  std::uint8_t scale = 0;                ///< UE4M3
  bool operator==(const Nvfp4Block&) const = default;
};

/// Random numbers of stochastic rounding, R of each element, below 2^bits; bits is 1 to 16.
struct Nvfp4Random {
  std::array<std::uint32_t, 16> words{};
  int bits = 8;
};

/// 16 BF16 codes under a tensor scale, rounded to nearest even, or stochastically if there is `random`. Scale code 0
/// makes all codes 0, signs too. Scale NaN (0x7F) and codes 0 if a number is a NaN or an infinity, or if the tensor
/// scale is not finite and positive, at least 2^-111 if not `tiny_scales`, a power of two if stochastic.
inline Nvfp4Block quantize_nvfp4(std::span<const std::uint16_t, 16> x, float tensor_scale, bool tiny_scales = true,
                                 const Nvfp4Random* random = nullptr) {
  const auto number = [](std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); };
  std::uint16_t amax = 0;
  for (const std::uint16_t code : x) amax = std::max<std::uint16_t>(amax, code & 0x7FFF);
  const bool refused = !std::isfinite(tensor_scale) || !(tensor_scale > 0) ||
                       (!tiny_scales && tensor_scale < 0x1p-111F) ||
                       (random && std::ldexp(1.0F, std::ilogb(tensor_scale)) != tensor_scale);
  Nvfp4Block block;
  if (amax >= 0x7F80 || refused) {
    block.scale = 0x7F;
    return block;
  }
  block.scale = nvfp4_block_scale(number(amax), tensor_scale);
  if (block.scale == 0) return block;
  const double unit = decode(Format::ue4m3, block.scale) * tensor_scale;
  for (std::size_t i = 0; i < 16; ++i) {
    RoundOptions options;
    if (random) {
      options = {.rounding = Rounding::stochastic, .random = random->words[i], .random_bits = random->bits};
    }
    block.codes[i] = static_cast<std::uint8_t>(quantize_element(desc(Format::e2m1), number(x[i]), unit, options));
  }
  return block;
}

}  // namespace narrowgauge
