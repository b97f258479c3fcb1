// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_te: one block by dialect `te` with nonfinite=nan_scale (docs/dialects.md), Transformer
// Engine's arithmetic of quant/rules.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "narrowgauge/quant/rules.hpp"

namespace narrowgauge {

/// Scale of a block, UE4M3, from its largest magnitude, a BF16 code without its sign, and the tensor's, an FP32 code
/// without its sign. NaN (0x7F) if one of them is not finite.
inline std::uint8_t te_block_scale(std::uint16_t block_amax, std::uint32_t tensor_amax) {
  if (block_amax >= 0x7F80 || tensor_amax >= 0x7F800000) return 0x7F;
  const float s_enc = vendor::encode_scale(std::bit_cast<float>(tensor_amax));
  return static_cast<std::uint8_t>(
      encode(Format::ue4m3, vendor::raw_block_scale(std::bit_cast<float>(std::uint32_t{block_amax} << 16), s_enc)));
}

/// E2M1 code of a BF16 code under a block scale; 0 under NaN.
inline std::uint8_t te_element(std::uint16_t x, std::uint8_t scale, std::uint32_t tensor_amax) {
  if (scale == 0x7F || tensor_amax >= 0x7F800000) return 0;
  const float s_enc = vendor::encode_scale(std::bit_cast<float>(tensor_amax));
  const float e = vendor::block_encode_scale(static_cast<float>(decode(Format::ue4m3, scale)), s_enc);
  return static_cast<std::uint8_t>(
      encode(Format::e2m1, vendor::scaled_element(std::bit_cast<float>(std::uint32_t{x} << 16), e)));
}

/// 16 BF16 codes under the tensor's largest magnitude.
inline Nvfp4Block quantize_te(std::span<const std::uint16_t, 16> x, std::uint32_t tensor_amax) {
  std::uint16_t amax = 0;
  for (const std::uint16_t code : x) amax = std::max<std::uint16_t>(amax, code & 0x7FFF);
  Nvfp4Block block;
  block.scale = te_block_scale(amax, tensor_amax);
  std::ranges::transform(x, block.codes.begin(),
                         [&](std::uint16_t code) { return te_element(code, block.scale, tensor_amax); });
  return block;
}

}  // namespace narrowgauge
