// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/hif4.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "block_runs.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {
namespace {

constexpr float seventh = 0x1.24p-3F;  // BF16 of 1/7; 7 is the largest number of a block with a scale of 1
constexpr float least_scale = 0x1p-48F, largest_scale = 0x1.8p15F;
constexpr std::array<float, 4> reciprocals{1, 0x1.9AP-1F, 0x1.56P-1F, 0x1.24P-1F};  // BF16 of 1 / (1 + m / 4)
constexpr std::uint8_t nan_scale = 0xFF;

/// Nearest, ties to even, with `dropped` bits of the mantissa less.
float narrowed(float x, int dropped) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t half = (1U << (dropped - 1)) - 1 + (bits >> dropped & 1);
  return std::bit_cast<float>((bits + half) >> dropped << dropped);
}

/// 2^n, of a normal number.
float power(int n) { return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23); }

float scale_value(std::uint8_t code) { return power((code >> 2) - 48) * (1 + 0.25F * static_cast<float>(code & 3)); }

struct Block {
  std::uint8_t scale = 0, level2 = 0;
  std::uint16_t level3 = 0;
};

Block quantize_block(const float* x, std::uint8_t* codes) {
  std::array<float, 16> four{};  // largest magnitudes
  std::array<float, 8> eight{};
  for (std::size_t i = 0; i < hif4_block; ++i) four[i / 4] = std::max(four[i / 4], std::abs(x[i]));
  for (std::size_t i = 0; i < 8; ++i) eight[i] = std::max(four[2 * i], four[2 * i + 1]);
  const float wanted = narrowed(*std::ranges::max_element(eight) * seventh, 16);
  const float scale = narrowed(std::clamp(wanted, least_scale, largest_scale), 21);
  const auto bits = std::bit_cast<std::uint32_t>(scale) >> 21;  // exponent + 127, and two bits of mantissa
  const float reciprocal = power(127 - static_cast<int>(bits >> 2)) * reciprocals[bits & 3];
  Block block{.scale = static_cast<std::uint8_t>(bits - 4 * (127 - 48))};
  for (std::size_t i = 0; i < 16; ++i) {
    const bool doubled = eight[i / 2] * reciprocal >= 4;
    block.level2 |= static_cast<std::uint8_t>(unsigned{doubled} << i / 2);
    const bool again = four[i] * reciprocal * (doubled ? 0.5F : 1.0F) >= 2;
    block.level3 |= static_cast<std::uint16_t>(unsigned{again} << i);
    const float quarters = power(2 - int{doubled} - int{again});
    for (std::size_t j = 4 * i; j < 4 * i + 4; ++j) {
      const float q = std::min(std::floor(std::abs(x[j]) * reciprocal * quarters + 0.5F), 7.0F);
      codes[j] = static_cast<std::uint8_t>(static_cast<int>(q) | (x[j] < 0 ? 8 : 0));
    }
  }
  return block;
}

}  // namespace

Hif4Blocks hif4_quantize(std::span<const float> x, unsigned threads) {
  detail::require(!x.empty() && x.size() % hif4_block == 0, [&] {
    return "there are " + std::to_string(x.size()) + " numbers; expected a multiple of 64, whole blocks of HiFloat4";
  });
  const std::size_t blocks = x.size() / hif4_block;
  Hif4Blocks q{.codes = std::vector<std::uint8_t>(x.size()),
               .scales = std::vector<std::uint8_t>(blocks),
               .level2 = std::vector<std::uint8_t>(blocks),
               .level3 = std::vector<std::uint16_t>(blocks)};
  detail::block_runs(blocks, threads, [&](std::size_t first, std::size_t end) {
    detail::finite_amax(x.subspan(first * hif4_block, (end - first) * hif4_block), first * hif4_block);
    for (std::size_t b = first; b < end; ++b) {
      const Block block = quantize_block(&x[b * hif4_block], &q.codes[b * hif4_block]);
      q.scales[b] = block.scale;
      q.level2[b] = block.level2;
      q.level3[b] = block.level3;
    }
  });
  return q;
}

std::vector<float> hif4_dequantize(std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                                   std::span<const std::uint8_t> level2, std::span<const std::uint16_t> level3,
                                   unsigned threads) {
  const std::size_t blocks = scales.size();
  detail::require(codes.size() == blocks * hif4_block && level2.size() == blocks && level3.size() == blocks, [&] {
    return "there are " + std::to_string(codes.size()) + " codes, " + std::to_string(blocks) + " scales, " +
           std::to_string(level2.size()) + " and " + std::to_string(level3.size()) +
           " exponents of the levels; expected 64 codes and one of each a block";
  });
  std::vector<float> x(codes.size());
  detail::block_runs(blocks, threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end; ++b) {
      detail::require(scales[b] != nan_scale,
                      [&] { return "the scale of block " + std::to_string(b) + " is 255, a NaN; expected 0 to 254"; });
      const float quarter = 0.25F * scale_value(scales[b]);
      for (std::size_t i = 0; i < hif4_block; ++i) {
        const std::uint8_t code = codes[b * hif4_block + i];
        detail::require(code < 16, [&] {
          return "code " + std::to_string(b * hif4_block + i) + " is " + std::to_string(code) + "; expected 0 to 15";
        });
        const float magnitude =
            static_cast<float>(code & 7) * power((level2[b] >> i / 8 & 1) + (level3[b] >> i / 4 & 1)) * quarter;
        x[b * hif4_block + i] = (code & 8) != 0 ? -magnitude : magnitude;
      }
    }
  });
  return x;
}

}  // namespace narrowgauge
