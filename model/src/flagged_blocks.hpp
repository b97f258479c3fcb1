// SPDX-License-Identifier: Apache-2.0
// What quantizers of blocks with two kinds of elements, IF4 and MixFP4, have in common.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "block_runs.hpp"
#include "kernels.hpp"
#include "narrowgauge/format/convert.hpp"
#include "narrowgauge/quant/flagged_blocks.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge::detail {

using Block = std::array<float, flagged_block>;

inline constexpr float full_scale = 6 * 448;

inline constexpr std::array<float, 16> e2m1_values = [] {
  std::array<float, 16> values{};
  for (std::uint32_t code = 0; code < 16; ++code) values[code] = static_cast<float>(decode(Format::e2m1, code));
  return values;
}();

/// Numbers of magnitude below 2^22 rounded to integers, ties to even.
inline float nearest(float x) {
  constexpr float ones = 0x1.8p23F;
  return (x + ones) - ones;
}

/// In torch's order on eight FP32 lanes.
inline float sum(const Block& e) {
  float total = 0;
  for (std::size_t i = 0; i < 8; ++i) total += e[i] + e[i + 8];
  return total;
}

inline float largest_magnitude(std::span<const float> x) {
  return std::bit_cast<float>(kernels().amax_bits(x.data(), x.size()));
}

/// Calls block(its numbers, amax, its codes, its scale), in parallel. Where all numbers are zero, codes are 0 and
/// scales `of_zeros`; other largest magnitudes are at least `least_amax`.
template <class QuantizeBlock>
FlaggedBlocks quantize_flagged(std::span<const float> x, const std::string& format, float least_amax,
                               std::uint8_t of_zeros, unsigned threads, const QuantizeBlock& block) {
  require(!x.empty() && x.size() % flagged_block == 0, [&] {
    return "there are " + std::to_string(x.size()) + " numbers; expected a multiple of 16, whole blocks of " + format;
  });
  const std::size_t blocks = x.size() / flagged_block;
  std::vector<float> run_amax((blocks + blocks_a_run - 1) / blocks_a_run);
  block_runs(blocks, threads, [&](std::size_t first, std::size_t end) {
    run_amax[first / blocks_a_run] =
        finite_amax(x.subspan(first * flagged_block, (end - first) * flagged_block), first * flagged_block);
  });
  FlaggedBlocks q{.amax = std::ranges::max(run_amax),
                  .codes = std::vector<std::uint8_t>(x.size()),
                  .scales = std::vector<std::uint8_t>(blocks, of_zeros)};
  if (q.amax == 0) return q;
  q.amax = std::max(q.amax, least_amax);
  block_runs(blocks, threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end; ++b)
      block(&x[b * flagged_block], q.amax, &q.codes[b * flagged_block], q.scales[b]);
  });
  return q;
}

/// Of each code value(code, scale without its flag, flag). `kind`: the elements that the flag says.
template <class Value>
std::vector<float> dequantize_flagged(std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                                      float amax, const std::string& kind, unsigned threads, const Value& value) {
  require(codes.size() % flagged_block == 0 && codes.size() / flagged_block == scales.size(), [&] {
    return "there are " + std::to_string(codes.size()) + " codes and " + std::to_string(scales.size()) +
           " scales; expected 16 codes a scale";
  });
  require(std::isfinite(amax) && amax >= 0,
          [&] { return "amax is " + std::to_string(amax) + "; expected a finite number, 0 or more"; });
  std::vector<float> x(codes.size());
  block_runs(scales.size(), threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end; ++b) {
      const std::uint8_t payload = scales[b] & 0x7F;
      require(payload != 0x7F, [&] {
        return "the scale of block " + std::to_string(b) + " is " + std::to_string(scales[b]) +
               ", a NaN; expected 0 to 126, or 128 to 254 for " + kind;
      });
      const auto scale = static_cast<float>(decode(Format::ue4m3, payload));
      for (std::size_t i = b * flagged_block; i < (b + 1) * flagged_block; ++i) {
        require(codes[i] < 16,
                [&] { return "code " + std::to_string(i) + " is " + std::to_string(codes[i]) + "; expected 0 to 15"; });
        x[i] = value(codes[i], scale, (scales[b] & block_flag) != 0);
      }
    }
  });
  return x;
}

}  // namespace narrowgauge::detail
