// SPDX-License-Identifier: Apache-2.0
// What a tile with requantization makes of its results: the next product's operand A, with nobody in between.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/luq/quantize_int4.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/quant/quantize_fp8.hpp"
#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// What results become: the operand A of a product of the set's formats, by their bits.
enum class ResultFormat : std::uint8_t {
  nvfp4 = format_set::nvfp4,
  e4m3 = format_set::e4m3,
  e5m2 = format_set::e5m2,
  int4 = format_set::luq,
};

/// A result format: name among operands, scheme, element, and the magnitude that it holds under a tensor scale of 1.
struct ResultFormatDesc {
  ResultFormat format;
  std::string_view name;
  Scheme scheme;
  Format element;
  float largest;
};
inline constexpr std::array<ResultFormatDesc, 4> result_formats{{
    {ResultFormat::nvfp4, "nvfp4", Scheme::nvfp4, Format::e2m1, 2688},
    {ResultFormat::e4m3, "fp8_e4m3", Scheme::fp8, Format::e4m3, 448},
    {ResultFormat::e5m2, "fp8_e5m2", Scheme::fp8, Format::e5m2, 57344},
    {ResultFormat::int4, "int4", Scheme::int4, Format::e3m0, 7},
}};
constexpr const ResultFormatDesc& desc(ResultFormat format) {
  return *std::find_if(result_formats.begin(), result_formats.end(),
                       [&](const ResultFormatDesc& d) { return d.format == format; });
}
/// Throws Error, listing the names, if there is none.
inline const ResultFormatDesc& find_result_format(std::string_view name) {
  std::string names;
  for (const ResultFormatDesc& d : result_formats) {
    if (d.name == name) return d;
    names += (names.empty() ? "" : ", ") + std::string(d.name);
  }
  throw Error("there are no results in '" + std::string(name) + "'; expected one of " + names);
}

/// The tensor scales under which results are numbers: in NVFP4 finite ones of 2^-111 or more, in FP8 powers of two
/// among these, in INT4 all that are finite and above 0.
inline bool is_result_scale(ResultFormat format, float scale) {
  if (format == ResultFormat::int4) return is_int4_scale(scale);
  if (!std::isfinite(scale) || !(scale >= 0x1p-111F)) return false;
  return format == ResultFormat::nvfp4 || (std::bit_cast<std::uint32_t>(scale) & 0x7FFFFF) == 0;
}
/// The scales that a format takes, in words, for messages.
inline std::string result_scales_text(ResultFormat format) {
  switch (format) {
    case ResultFormat::nvfp4:
      return "a number from 2^-111 (3.85186e-34) to the largest of float32";
    case ResultFormat::int4:
      return "a number above 0, to the largest of float32";
    default:
      return "a power of two from 2^-111 (3.85186e-34) to 2^127";
  }
}
/// A tensor scale under which nothing up to `amax` is clipped: amax over the largest number, in FP8 the next power of
/// two from there on; at least the least one that is_result_scale() takes. Of an infinity or a NaN these.
inline float result_scale(ResultFormat format, float amax) {
  const float least = amax / desc(format).largest;
  if (!std::isfinite(least)) return least;
  if (format == ResultFormat::int4) return std::max(least, std::numeric_limits<float>::denorm_min());
  if (format == ResultFormat::nvfp4 || least <= 0x1p-111F) return std::max(least, 0x1p-111F);
  int exponent = 0;
  const float significand = std::frexp(least, &exponent);  // in [1/2, 1)
  return std::ldexp(1.0F, significand == 0.5F ? exponent - 1 : exponent);
}

/// A result as BF16, to nearest even with overflow to infinity; `relu`: a negative one, but NaN, as +0.
inline std::uint16_t requantize_input(float x, bool relu) {
  return static_cast<std::uint16_t>(encode(Format::bf16, relu && x <= 0 ? 0.0F : x, {.overflow = Overflow::ieee}));
}

/// A number of them in FP8 or INT4.
inline std::uint8_t requantize_single(std::uint16_t x, ResultFormat format, float tensor_scale) {
  if (format == ResultFormat::int4) return quantize_int4(x, std::abs(tensor_scale));
  const std::uint32_t code = std::bit_cast<std::uint32_t>(tensor_scale);
  const auto scale = static_cast<std::uint8_t>((code & 0x807FFFFF) != 0 ? 0xFF : code >> 23);
  return quantize_fp8(x, scale, desc(format).element, false, 0, 8, false);
}

/// Golden model of the results that leave a tile as operand A. `c`: M x N numbers, row-major, as `gemm` gives them.
/// Each becomes requantize_input, rectified if `relu`, and is quantized to nearest under `tensor_scale`, which is the
/// factor of the matrix that comes: M vectors of N. In NVFP4 each 16 of a row, zeros behind its end, by quantize_nvfp4:
/// a block with a NaN or an infinity has scale NaN. In FP8 by quantize_fp8, which saturates, in INT4 by quantize_int4,
/// in which a NaN is 7. Where is_result_scale() is false, all are NaN, in INT4 7, whose scale's sign alone does no
/// harm.
/// Throws Error if `c` has not M x N numbers.
inline QuantizedMatrix requantize(std::span<const float> c, std::size_t m, std::size_t n, ResultFormat format,
                                  float tensor_scale, bool relu = false) {
  if (m == 0 || n == 0 || c.size() / m != n || c.size() % m != 0) {
    throw Error("requantize: " + std::to_string(c.size()) + " numbers; expected " + std::to_string(m) + " x " +
                std::to_string(n) + ", one or more");
  }
  QuantizedMatrix q;
  q.scheme = desc(format).scheme;
  q.element = desc(format).element;
  q.rows = m;
  q.k = n;
  q.tensor_scale = tensor_scale;
  if (format != ResultFormat::nvfp4) {
    q.k_padded = n;
    for (const float x : c) q.codes.push_back(requantize_single(requantize_input(x, relu), format, tensor_scale));
    return q;
  }
  constexpr std::size_t block = 16;
  q.k_padded = (n + block - 1) / block * block;
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t start = 0; start < n; start += block) {
      std::array<std::uint16_t, block> x{};
      for (std::size_t i = 0; i < std::min(block, n - start); ++i)
        x[i] = requantize_input(c[row * n + start + i], relu);
      const Nvfp4Block quantized = quantize_nvfp4(x, tensor_scale, false);
      q.codes.insert(q.codes.end(), quantized.codes.begin(), quantized.codes.end());
      q.scales.push_back(quantized.scale);
    }
  }
  return q;
}

/// Largest magnitude of M x N results in BF16, as the tile's register AMAX has it: an FP32 code, a NaN's above all.
inline std::uint32_t requantize_amax(std::span<const float> c, bool relu = false) {
  std::uint32_t amax = 0;
  for (const float x : c) amax = std::max<std::uint32_t>(amax, requantize_input(x, relu) & 0x7FFF);
  return amax << 16;
}

}  // namespace narrowgauge
