// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/if4.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "block_runs.hpp"
#include "kernels.hpp"
#include "narrowgauge/format/convert.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/require.hpp"

namespace narrowgauge {
namespace {

using Block = std::array<float, if4_block>;

constexpr float flt_max = std::numeric_limits<float>::max();
constexpr float full_scale = 6 * 448;
constexpr float least_amax = 0x1.500002p-117F;                 // the least whose full_scale / amax is finite
constexpr float expansion = 7.0F / 6, contraction = 6.0F / 7;  // what an INT4 element is of an E2M1 element

constexpr std::array<float, 16> e2m1_values = [] {
  std::array<float, 16> values{};
  for (std::uint32_t code = 0; code < 16; ++code) values[code] = static_cast<float>(decode(Format::e2m1, code));
  return values;
}();

/// Numbers of magnitude below 2^22 rounded to integers, ties to even.
float nearest(float x) {
  constexpr float ones = 0x1.8p23F;
  return (x + ones) - ones;
}

struct Candidate {
  Block element{};  // without scales
  float error = 0;
};

float value(float element, float scale, float amax, bool integer) {
  const float product = element * scale * amax;
  return (integer ? product * contraction : product) / full_scale;
}

/// In torch's order on eight FP32 lanes.
float sum(const Block& e) {
  float total = 0;
  for (std::size_t i = 0; i < 8; ++i) total += e[i] + e[i + 8];
  return total;
}

void measure(Candidate& c, const float* x, float scale, float amax, bool integer, If4Choice choice) {
  Block e;
  for (std::size_t i = 0; i < if4_block; ++i) {
    const float difference = value(c.element[i], scale, amax, integer) - x[i];
    e[i] = choice == If4Choice::mse ? difference * difference : std::abs(difference);
  }
  c.error = choice == If4Choice::largest ? *std::ranges::max_element(e) : sum(e);
}

float largest_magnitude(std::span<const float> x) {
  return std::bit_cast<float>(detail::kernels().amax_bits(x.data(), x.size()));
}

void quantize_block(const float* x, float amax, float encode_scale, float decode_scale, If4Choice choice,
                    std::uint8_t* codes, std::uint8_t& scale_code) {
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
    real.element[i] = e2m1_values[codes[i]];
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
  detail::require(!x.empty() && x.size() % if4_block == 0, [&] {
    return "there are " + std::to_string(x.size()) + " numbers; expected a multiple of 16, whole blocks of IF4";
  });
  const std::size_t blocks = x.size() / if4_block;
  std::vector<float> run_amax((blocks + detail::blocks_a_run - 1) / detail::blocks_a_run);
  detail::block_runs(blocks, threads, [&](std::size_t first, std::size_t end) {
    run_amax[first / detail::blocks_a_run] =
        detail::finite_amax(x.subspan(first * if4_block, (end - first) * if4_block), first * if4_block);
  });
  If4Blocks q{.amax = std::ranges::max(run_amax),
              .codes = std::vector<std::uint8_t>(x.size()),
              .scales = std::vector<std::uint8_t>(blocks)};
  if (q.amax == 0) return q;
  q.amax = std::max(q.amax, least_amax);
  const float encode_scale = full_scale / q.amax, decode_scale = 1 / encode_scale;
  detail::block_runs(blocks, threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end; ++b)
      quantize_block(&x[b * if4_block], q.amax, encode_scale, decode_scale, choice, &q.codes[b * if4_block],
                     q.scales[b]);
  });
  return q;
}

std::vector<float> if4_dequantize(std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales, float amax,
                                  unsigned threads) {
  detail::require(codes.size() % if4_block == 0 && codes.size() / if4_block == scales.size(), [&] {
    return "there are " + std::to_string(codes.size()) + " codes and " + std::to_string(scales.size()) +
           " scales; expected 16 codes a scale";
  });
  detail::require(std::isfinite(amax) && amax >= 0,
                  [&] { return "amax is " + std::to_string(amax) + "; expected a finite number, 0 or more"; });
  std::vector<float> x(codes.size());
  detail::block_runs(scales.size(), threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end; ++b) {
      const std::uint8_t payload = scales[b] & 0x7F;
      const bool integer = (scales[b] & if4_integer) != 0;
      detail::require(payload != 0x7F, [&] {
        return "the scale of block " + std::to_string(b) + " is " + std::to_string(scales[b]) +
               ", a NaN; expected 0 to 126, or 128 to 254 for INT4";
      });
      const auto scale = static_cast<float>(decode(Format::ue4m3, payload));
      for (std::size_t i = b * if4_block; i < (b + 1) * if4_block; ++i) {
        detail::require(codes[i] < 16, [&] {
          return "code " + std::to_string(i) + " is " + std::to_string(codes[i]) + "; expected 0 to 15";
        });
        const float element = integer ? static_cast<float>((codes[i] ^ 8) - 8) : e2m1_values[codes[i]];
        x[i] = value(element, scale, amax, integer);
      }
    }
  });
  return x;
}

}  // namespace narrowgauge
