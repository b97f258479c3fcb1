// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/mixfp4.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "flagged_blocks.hpp"

namespace narrowgauge {
namespace {

using detail::Block, detail::full_scale;

constexpr float least_amax = 0x1.5p-115F;  // 2688 times the least normal number

/// An element of E1M2, in steps of its least magnitude.
float steps(std::uint8_t code) {
  const auto magnitude = static_cast<float>(code & 7);
  return (code & 8) != 0 ? -magnitude : magnitude;
}

/// A block in one kind of elements.
struct Candidate {
  std::uint8_t scale = 0;
  std::array<std::uint8_t, mixfp4_block> codes{};
  float error = 0;
};

/// y: numbers over the tensor's scale. amax: their largest magnitude. most: the kind's largest element.
template <class Encode, class Element>
Candidate candidate(const Block& y, float amax, float most, const Encode& encode_block, const Element& element) {
  Candidate made{.scale = static_cast<std::uint8_t>(encode(Format::ue4m3, amax / most))};
  const auto scale = static_cast<float>(decode(Format::ue4m3, made.scale));
  if (made.scale != 0) {
    Block z;
    for (std::size_t i = 0; i < mixfp4_block; ++i) z[i] = y[i] / scale;
    encode_block(z, made.codes);
  }
  Block e;
  for (std::size_t i = 0; i < mixfp4_block; ++i) {
    const float difference = element(made.codes[i]) * scale - y[i];
    e[i] = difference * difference;
  }
  made.error = detail::sum(e);
  return made;
}

void quantize_block(const float* x, float amax, std::uint8_t* codes, std::uint8_t& scale) {
  const float tensor_scale = amax / full_scale;
  Block y;
  for (std::size_t i = 0; i < mixfp4_block; ++i) y[i] = x[i] / tensor_scale;
  const float largest = detail::largest_magnitude(y);
  const Candidate e2m1 = candidate(
      y, largest, 6,
      [](const Block& z, auto& to) { encode_span(Format::e2m1, std::span<const float>(z), std::span(to)); },
      [](std::uint8_t code) { return detail::e2m1_values[code]; });
  const Candidate e1m2 = candidate(
      y, largest, 7,
      [](const Block& z, auto& to) {
        for (std::size_t i = 0; i < mixfp4_block; ++i) {
          const auto magnitude = static_cast<int>(detail::nearest(std::min(std::abs(z[i]), 7.0F)));
          to[i] = static_cast<std::uint8_t>(magnitude | (std::signbit(z[i]) ? 8 : 0));
        }
      },
      steps);
  const bool real = e2m1.error < e1m2.error;
  std::ranges::copy(real ? e2m1.codes : e1m2.codes, codes);
  scale = real ? e2m1.scale : e1m2.scale | mixfp4_e1m2;
}

}  // namespace

MixFp4Blocks mixfp4_quantize(std::span<const float> x, unsigned threads) {
  return detail::quantize_flagged(x, "MixFP4", least_amax, mixfp4_e1m2, threads, quantize_block);
}

std::vector<float> mixfp4_dequantize(std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                                     float amax, unsigned threads) {
  const float tensor_scale = amax / full_scale;
  return detail::dequantize_flagged(codes, scales, amax, "E1M2", threads,
                                    [tensor_scale](std::uint8_t code, float scale, bool uniform) {
                                      return (uniform ? steps(code) : detail::e2m1_values[code]) * scale * tensor_scale;
                                    });
}

}  // namespace narrowgauge
