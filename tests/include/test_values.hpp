// SPDX-License-Identifier: Apache-2.0
// Inputs that the suites share. Seeds are fixed and named in the failure text.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/sparse/prune.hpp"

namespace narrowgauge::test {

inline std::vector<float> normal_values(std::size_t count, unsigned seed, float sigma = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, sigma);
  std::vector<float> x(count);
  for (float& v : x) v = normal(generator);
  return x;
}

/// `vectors` of `k` normal values, quantized.
inline QuantizedMatrix normal_operand(std::size_t vectors, std::size_t k, Scheme scheme, Format element,
                                      unsigned seed) {
  return quantize(normal_values(vectors * k, seed), vectors, k, Axis::rows, {.scheme = scheme, .element = element});
}

/// The same of a product whose left operand has the pattern; `left`: that one.
inline QuantizedMatrix sparse_product_operand(std::size_t vectors, std::size_t k, bool left, unsigned seed,
                                              const GemmFormat& format = find_gemm_format("nvfp4"),
                                              const NmPattern& pattern = {}) {
  const std::size_t whole = (k + 7) / 8 * 8;
  std::vector<float> all = normal_values(vectors * whole, seed), x;
  if (left) all = prune(all, vectors, whole, pattern).values;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % whole < k) x.push_back(all[i]);
  return quantize(x, vectors, k, Axis::rows,
                  {.scheme = left ? format.a_scheme() : format.b_scheme(),
                   .element = left ? format.a : format.b,
                   .wide_blocks = format.scheme == Scheme::nvfp4});
}

/// Finite floats with every sign, exponent and mantissa equally likely.
inline std::vector<float> wild_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> x(count);
  for (float& v : x) {
    do v = std::bit_cast<float>(static_cast<std::uint32_t>(generator()));
    while (!std::isfinite(v));
  }
  return x;
}

/// Every value of a format, every midpoint between neighbours, and the two floats around each; both signs.
inline std::vector<float> boundary_values(const FormatDesc& f, double unit = 1) {
  std::vector<float> x;
  const auto add = [&](double v) {
    const auto near = static_cast<float>(v);
    for (const float y :
         {near, std::nextafter(near, 0.0F), std::nextafter(near, std::numeric_limits<float>::infinity())}) {
      if (!std::isfinite(y)) continue;
      x.push_back(y);
      x.push_back(-y);
    }
  };
  for (std::uint32_t code = 0; code <= f.max_code() && code < 0x8000; ++code) {
    const double low = decode(f, code) * unit;
    const double high = code < f.max_code() ? decode(f, code + 1) * unit : 2 * low;
    add(low);
    add((low + high) / 2);
  }
  return x;
}

}  // namespace narrowgauge::test
