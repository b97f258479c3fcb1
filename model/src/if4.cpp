// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/if4.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "flagged_blocks.hpp"

namespace narrowgauge {
namespace {

using detail::Block, detail::full_scale, detail::largest_magnitude, detail::nearest;

constexpr float flt_max = std::numeric_limits<float>::max();
constexpr float least_amax = 0x1.500002p-117F;                 // the least whose full_scale / amax is finite
constexpr float expansion = 7.0F / 6, contraction = 6.0F / 7;  // what an INT4 element is of an E2M1 element

struct Candidate {
  Block element{};  // without scales
  float error = 0;
};

float value(float element, float scale, float amax, bool integer) {
  const float product = element * scale * amax;
  return (integer ? product * contraction : product) / full_scale;
}

void measure(Candidate& c, const float* x, float scale, float amax, bool integer, If4Choice choice) {
  Block e;
  for (std::size_t i = 0; i < if4_block; ++i) {
    const float difference = value(c.element[i], scale, amax, integer) - x[i];
    e[i] = choice == If4Choice::mse ? difference * difference : std::abs(difference);
  }
  c.error = choice == If4Choice::largest ? *std::ranges::max_element(e) : detail::sum(e);
}

void quantize_block(const float* x, float amax, If4Choice choice, std::uint8_t* codes, std::uint8_t& scale_code) {
  const float encode_scale = full_scale / amax, decode_scale = 1 / encode_scale;
  scale_code = static_cast<std::uint8_t>(encode(Format::ue4m3, largest_magnitude({x, if4_block}) / 6 * encode_scale));
  std::fill_n(codes, if4_block, std::uint8_t{0});
  if (scale_code == 0) return;
  const auto scale = static_cast<float>(decode(Format::ue4m3, scale_code));
  const float factor = std::min(1 / (decode_scale * scale), flt_max);
  Block y;
  Candidate real, integer;
  for (std::size_t i = 0; i < if4_block; ++i) {
    y[i] = x[i] * factor;
    integer.element[i] = nearest(std::clamp(y[i] * expansion, -7.0F, 7.0F));
  }
  encode_span(Format::e2m1, std::span<const float>(y), std::span(codes, if4_block));
  for (std::size_t i = 0; i < if4_block; ++i) {
    if (y[i] == 0) codes[i] = 0;  // no minus zero that was one before its rounding
    real.element[i] = detail::e2m1_values[codes[i]];
  }
  measure(real, x, scale, amax, false, choice);
  measure(integer, x, scale, amax, true, choice);
  if (integer.error < real.error) {
    for (std::size_t i = 0; i < if4_block; ++i)
      codes[i] = static_cast<std::uint8_t>(static_cast<int>(integer.element[i]) & 15);
    scale_code |= if4_integer;
  }
}

}  // namespace

If4Blocks if4_quantize(std::span<const float> x, If4Choice choice, unsigned threads) {
  return detail::quantize_flagged(x, "IF4", least_amax, 0, threads,
                                  [choice](const float* block, float amax, std::uint8_t* codes, std::uint8_t& scale) {
                                    quantize_block(block, amax, choice, codes, scale);
                                  });
}

std::vector<float> if4_dequantize(std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales, float amax,
                                  unsigned threads) {
  return detail::dequantize_flagged(
      codes, scales, amax, "INT4", threads, [amax](std::uint8_t code, float scale, bool integer) {
        return value(integer ? static_cast<float>((code ^ 8) - 8) : detail::e2m1_values[code], scale, amax, integer);
      });
}

}  // namespace narrowgauge
