// SPDX-License-Identifier: Apache-2.0
// What a tile with requantization makes of its results: the next product's operand A, with nobody in between.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/quantize_nvfp4.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// A result as BF16, to nearest even with overflow to infinity; `relu`: a negative one, but NaN, as +0.
inline std::uint16_t requantize_input(float x, bool relu) {
  return static_cast<std::uint16_t>(encode(Format::bf16, relu && x <= 0 ? 0.0F : x, {.overflow = Overflow::ieee}));
}

/// Golden model of the results that leave a tile in NVFP4. `c`: M x N numbers, row-major, as `gemm` gives them.
/// Each becomes requantize_input, rectified if `relu`; each 16 of a row, zeros behind its end, are quantized by
/// quantize_nvfp4 under `tensor_scale`, which is the factor of the matrix that comes: M vectors of N.
/// A block with a NaN or an infinity has scale NaN, and all have if `tensor_scale` is not finite and at least 2^-111.
/// Throws Error if `c` has not M x N numbers.
inline QuantizedMatrix requantize_nvfp4(std::span<const float> c, std::size_t m, std::size_t n, float tensor_scale,
                                        bool relu = false) {
  constexpr std::size_t block = 16;
  if (m == 0 || n == 0 || c.size() / m != n || c.size() % m != 0) {
    throw Error("requantize_nvfp4: " + std::to_string(c.size()) + " numbers; expected " + std::to_string(m) + " x " +
                std::to_string(n) + ", one or more");
  }
  QuantizedMatrix q;
  q.rows = m;
  q.k = n;
  q.k_padded = (n + block - 1) / block * block;
  q.tensor_scale = tensor_scale;
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
