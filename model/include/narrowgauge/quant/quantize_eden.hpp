// SPDX-License-Identifier: Apache-2.0
// Golden model of ng_quantize_eden: MS-EDEN, the quantizer of the dialect `quartet2` (docs/dialects.md, MS-EDEN), on
// one group of eight blocks of 16 numbers. Every operation in FP32, rounded once to nearest even.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/div_fp32.hpp"
#include "narrowgauge/quant/eden_scale.hpp"

namespace narrowgauge {

/// What a block's maximum is mapped to in `quartet2`.
inline constexpr float eden_element_max = static_cast<float>(6 / (17.0 / 16));

/// A block before its scale is corrected.
struct EdenBlock {
  std::array<std::uint8_t, 16> codes{};
  std::uint8_t scale = 0x7F;
  bool refused = true;        ///< an infinity, a NaN, or a tensor scale that is not positive and finite
  float amax = 0, ratio = 0;  ///< A, fl(A / element_max)
  float factor = 0;           ///< what elements are divided by
  std::array<float, 16> y{};  ///< the elements over it
};

/// Block of 16 numbers under the tensor scale p. A quotient beyond FP32 is its largest number.
inline EdenBlock eden_block(std::span<const float> x, float p, float element_max = eden_element_max) {
  constexpr float largest = 448;
  const auto over = [](float a, float b) {
    return std::bit_cast<float>(div_fp32(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b), true));
  };
  EdenBlock block;
  for (const float number : x) {
    if (!std::isfinite(number)) return block;
    block.amax = std::max(block.amax, std::abs(number));
  }
  if (!(p > 0) || !std::isfinite(p)) return block;
  block.refused = false;
  block.ratio = over(block.amax, element_max);
  block.scale = static_cast<std::uint8_t>(encode(Format::ue4m3, std::min(over(block.ratio, p), largest)));
  if (block.scale == 0) block.scale = 0x38;
  block.factor = std::max(static_cast<float>(decode(Format::ue4m3, block.scale)) * p,  // never 0: ng_quantize_eden.sv
                          std::numeric_limits<float>::denorm_min());
  for (std::size_t i = 0; i < 16; ++i) {
    const float y = block.y[i] = over(x[i], block.factor), size = std::abs(y);
    constexpr float midpoints[] = {0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5};
    for (const float midpoint : midpoints) block.codes[i] += size >= midpoint;
    if (!(y > 0)) block.codes[i] |= 8;
  }
  return block;
}

/// Sums of y^2 and of y times its code's value, and their quotient, which is 1 where the latter sum is zero.
struct EdenSums {
  float squares = 0, products = 0;
  float correction = 1;
};

/// Of the blocks of a group, eight or fewer; without the refused ones.
inline EdenSums eden_sums(std::span<const EdenBlock> blocks) {
  std::array<float, 8> squares{}, products{};
  for (const EdenBlock& block : blocks) {
    if (block.refused) continue;
    for (std::size_t i = 0; i < 16; ++i) {
      const float square = block.y[i] * block.y[i];
      const float product = block.y[i] * static_cast<float>(decode(Format::e2m1, block.codes[i]));
      squares[i % 8] += square;
      products[i % 8] += product;
    }
  }
  const auto sum = [](const std::array<float, 8>& r) {
    return ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  };
  EdenSums sums{.squares = sum(squares), .products = sum(products)};
  sums.correction = eden_correction(sums.squares, sums.products);
  return sums;
}

/// Blocks of a group with their final scales: x has 16 numbers for each of them, 128 at most, words a random number of
/// `bits` for each. Under a tensor scale so small that both sums overflow, the scales are NaN (0x7F).
inline std::vector<EdenBlock> quantize_eden(std::span<const float> x, float p, std::span<const std::uint32_t> words,
                                            float element_max = eden_element_max, int bits = 24) {
  std::vector<EdenBlock> blocks;
  for (std::size_t b = 0; b < x.size() / 16; ++b) blocks.push_back(eden_block(x.subspan(16 * b, 16), p, element_max));
  const float correction = eden_sums(blocks).correction;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    blocks[b].scale = eden_scale(blocks[b].scale, correction, words[b], bits);
  return blocks;
}

/// Edges of ng_quantize_eden from the one that takes a block to the one behind which its codes are stored.
inline int eden_block_steps(std::span<const float> x, const EdenBlock& block, float p, float element_max) {
  if (block.refused) return 2;
  const auto divide = [](float a, float b) {  // taken, found, and used
    return div_fp32_steps(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b)) + 2;
  };
  int steps = divide(block.amax, element_max) + divide(block.ratio, p) + 2;
  for (const float number : x) steps += divide(number, block.factor) + 4;
  return steps + 1;
}

/// Edges from the one behind which the last block is stored to the one behind which the correction is known.
inline int eden_sums_steps(std::span<const EdenBlock> blocks, const EdenSums& sums) {
  const bool none = std::ranges::all_of(blocks, [](const EdenBlock& block) { return block.refused; });
  const int found =
      sums.products == 0
          ? 1
          : div_fp32_steps(std::bit_cast<std::uint32_t>(sums.squares), std::bit_cast<std::uint32_t>(sums.products)) + 2;
  return none ? 1 : 2 * 7 * 3 + found;
}

}  // namespace narrowgauge
