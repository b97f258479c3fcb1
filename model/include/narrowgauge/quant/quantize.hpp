// SPDX-License-Identifier: Apache-2.0
// Float matrices to narrow ones, and back. docs/quantizers.md has the rules and how often they differ.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// The direction of a row-major matrix that is the contraction, along which blocks run.
enum class Axis : std::uint8_t {
  rows,     ///< each row is a vector: A of A x B
  columns,  ///< each column is a vector: B of A x B
};

/// How scales and quotients are rounded.
enum class ScaleRule : std::uint8_t {
  exact,   ///< every quotient correctly rounded, decided without division by comparing with scaled thresholds:
           ///< hardware's
  vendor,  ///< Transformer Engine's FP32 sequence of rounded operations, bit for bit (docs/quantizers.md, The vendor
           ///< rule); nvfp4 only
};

struct QuantizeOptions {
  Scheme scheme = Scheme::nvfp4;
  Format element = Format::e2m1;
  ScaleRule rule = ScaleRule::exact;
  Rounding rounding =
      Rounding::nearest_even;  ///< of the elements; block scales are always rounded to nearest even. luq:
                               ///< stochastic or to the nearest power; int4: always to nearest even
  int random_bits = 8;         ///< stochastic: 1 to 24
  std::uint64_t seed = 0;      ///< stochastic: element i of the codes takes field i of random_fields(seed)
  std::optional<float> tensor_scale =
      std::nullopt;      ///< a given scale instead of the one from the tensor's maximum; Scaling::tensor only
  unsigned threads = 0;  ///< 0: one per core
  bool power_of_two_scale = false;    ///< round computed FP32 scales up to powers of two; nvfp4 and fp8, not for vendor
  Scaling scaling = Scaling::tensor;  ///< which elements share an FP32 scale; others than `tensor` are for fp8
  bool wide_blocks = false;  ///< two neighbouring blocks share their scale, that of 32 elements, as a product with a
                             ///< 2:4 sparse operand takes them; nvfp4, not for vendor
};

/// Quantizes the row-major matrix `x` of rows x cols. Axis::rows gives `rows` vectors of k = cols, Axis::columns `cols`
/// vectors of k = rows. Values beyond the largest finite one saturate (only a given tensor scale can bring that about,
/// and the floor rule of MX, which clips up to a quarter (MXFP8: an eighth) off a block's largest value).
/// luq and int4 are quantized as luq_quantize and int4_quantize do (luq/luq.hpp): alpha is a power of two, the scale of
/// int4 is that of SAWB's clip of `x`, beyond which numbers saturate.
/// Blocks with scale code 0 have all codes 0 under `exact` and keep them under `vendor`. Throws Error, naming row,
/// column and value, on NaN or infinity; on zero sizes, on a length other than rows * cols, on an element format that
/// the scheme does not have, on options that contradict each other.
QuantizedMatrix quantize(std::span<const float> x, std::size_t rows, std::size_t cols, Axis along,
                         const QuantizeOptions& options);

/// The values, rows x k (padding dropped), exact: code (5 bits at most) * block scale (4) * FP32 scale (24) fits a
/// double.
std::vector<double> dequantize(const QuantizedMatrix& q);

/// Value of an element's code without its scales.
double element_value(Scheme scheme, Format element, std::uint32_t code);

/// Throws Error if the parts of `q` do not fit together; `name` names it in the text.
void check(const QuantizedMatrix& q, std::string_view name);

/// The scale that `quantize` gives a tensor of this largest magnitude: see quant/rules.hpp. Throws Error for int4,
/// whose scale follows from all numbers, unless it is given.
float tensor_scale(float amax, const QuantizeOptions& options);

}  // namespace narrowgauge
