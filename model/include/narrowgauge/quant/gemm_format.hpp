// SPDX-License-Identifier: Apache-2.0
// The operand formats of matrix products, by the names that programs take.
#pragma once

#include <array>
#include <string_view>

#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// What the two operands of a product are quantized to.
struct GemmFormat {
  std::string_view name;
  Scheme scheme;
  Format a, b;  ///< element formats of A (M x K) and B (K x N)
  std::string_view use;

  /// The scheme of A, and of B: luq's A is INT4.
  constexpr Scheme a_scheme() const { return scheme == Scheme::luq ? Scheme::int4 : scheme; }
  constexpr Scheme b_scheme() const { return scheme; }
};

inline constexpr std::array<GemmFormat, 11> gemm_formats{{
    {"nvfp4", Scheme::nvfp4, Format::e2m1, Format::e2m1, "4-bit training and inference, scale per 16 and per tensor"},
    {"mxfp4", Scheme::mxfp4, Format::e2m1, Format::e2m1, "4-bit inference, power-of-two scale per 32"},
    {"fp8_e4m3", Scheme::fp8, Format::e4m3, Format::e4m3, "8-bit forward products"},
    {"fp8_e5m2", Scheme::fp8, Format::e5m2, Format::e5m2, "8-bit backward and update products"},
    {"fp8_e4m3_e5m2", Scheme::fp8, Format::e4m3, Format::e5m2, "E4M3 weights or activations times E5M2 gradients"},
    {"fp8_e5m2_e4m3", Scheme::fp8, Format::e5m2, Format::e4m3, "E5M2 gradients times E4M3 weights or activations"},
    {"mxfp8_e4m3", Scheme::mxfp8, Format::e4m3, Format::e4m3,
     "8-bit training and inference, power-of-two scale per 32"},
    {"mxfp8_e5m2", Scheme::mxfp8, Format::e5m2, Format::e5m2, "the same with the range of E5M2"},
    {"mxfp8_e4m3_e5m2", Scheme::mxfp8, Format::e4m3, Format::e5m2, "MXFP8 weights or activations times gradients"},
    {"mxfp8_e5m2_e4m3", Scheme::mxfp8, Format::e5m2, Format::e4m3, "MXFP8 gradients times weights or activations"},
    {"luq", Scheme::luq, Format::e3m0, Format::e3m0,
     "INT4 weights or activations times FP4 [1,3,0] gradients, by shifts"},
}};

/// The row of this name. Throws Error, listing the known names, if there is none.
const GemmFormat& find_gemm_format(std::string_view name);

}  // namespace narrowgauge
