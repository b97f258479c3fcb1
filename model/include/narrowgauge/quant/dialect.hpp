// SPDX-License-Identifier: Apache-2.0
// Quantizers as others have them, each an exact sequence of operations described by data. docs/dialects.md has the
// fields, the named dialects, where they come from and how often they differ.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// How a block's scale and what its elements are rounded from follow from largest magnitudes: A of the tensor, a of the
/// block. B is the bound, V the element maximum, s the decoded block scale; fl is one rounding to FP32. E4M3 and the
/// elements are rounded from r and y.
enum class ScaleOrder : std::uint8_t {
  exact,        ///< no division: thresholds times scales; every quotient is correctly rounded (docs/quantizers.md)
  reciprocals,  ///< S = fl(B V / A), r = fl(a fl(S fl(1/V))), e = fl(1 / fl(s fl(1/S))), y = fl(x e): Transformer
                ///< Engine
  quotient,     ///< the same with r = fl(fl(a / V) S): Transformer Engine's four over six
  quotients,    ///< p = fl(A / (B V)), r = fl(fl(a / V) / p), e = fl(fl(1/p) / s), y = fl(x e): torchao
  divisions,    ///< p = fl(fl(A / B) / V), r = fl(fl(a / V) / p), y = fl(x / fl(s p)): Quartet II
  products,     ///< p = fl(A / (B V)), r = fl(a / fl(V p)), y = fl(x / fl(s p)): ModelOpt
  least_error,  ///< p = fl(A / (B V)), r = fl(fl(a / V) / p); the magnitude's code is the first of the least
                ///< fl(abs(fl(q fl(s p)) - abs(x))): ggml
};

/// How r becomes a code of E4M3.
enum class ScaleCode : std::uint8_t {
  exact,  ///< to nearest even, saturating
  ggml,   ///< ties up; from 248 on 448; below 2^-6 the smaller of 7 and the integer part of fl(fl(512 r) + 1/2)
};

/// The elements that share a block scale.
enum class BlockShape : std::uint8_t {
  row,         ///< 16 (NVFP4) or 32 (MX) along the contraction
  tile_16x16,  ///< 16 along the contraction of 16 vectors; the scale is stored with each of them
};

/// Block scales of the MX formats: the power of two of the block's maximum a and the element format's largest value V.
enum class PowerRule : std::uint8_t {
  floor,     ///< 2^(floor(log2 a) - floor(log2 V)): OCP
  ceil,      ///< 2^(ceil(log2 a) - floor(log2 V))
  rceil,     ///< fl(a fl(1/V)) rounded up to a power of two: cvt.rp
  even,      ///< a rounded to the element's mantissa, ties up, then floor
  quotient,  ///< fl(a / V) rounded up to a power of two, subnormal numbers to 2^-126; scale code 0 means zeros
};

/// Whether the block's maximum may be mapped to 4 instead of V, with a scale 1.5 times as large, where that errs less.
enum class ScaleSearch : std::uint8_t { none, mae, mse, largest };

/// What the error of a candidate is the difference of.
enum class SearchError : std::uint8_t {
  input,   ///< fl(fl(fl(q s) A) / fl(V B)) and x; the orders that divide by fl(s p), and `least_error`: fl(q fl(s p))
           ///< and x; `exact`: q s g and x, not rounded
  scaled,  ///< q s, exact in FP16, and fl(x S): Transformer Engine's fast path
};

/// In which order the FP32 errors of a block are added.
enum class ErrorSum : std::uint8_t {
  sequential,  ///< element 0 first; the 16 sums of a tile by halves: 8 apart, 4, 2, 1
  pairwise,    ///< eight running sums of every eighth element, then a tree: numpy's
  lanes,       ///< four running vectors of eight lanes, added in order, then the lanes in order: torch's
};

/// What a block does whose scale is rounded to zero.
enum class ZeroScale : std::uint8_t {
  codes,      ///< the scale is 0, the codes are those of its sequence (+-6); they decode to 0
  zero,       ///< the scale is 0, so are the codes, signs included
  floor,      ///< no scale is below 2^-6
  one,        ///< the scale becomes 1
  least,      ///< the scale is 1 where r is 0, and at least 2^-9, the smallest of E4M3, elsewhere
  zeros_one,  ///< the scale is 1 where r is 0, and as with `codes` elsewhere
};

/// The sign of code zero.
enum class ZeroSign : std::uint8_t {
  keep,   ///< that of the number
  drop,   ///< exact zeros, -0 included, have code 0; what is rounded to zero keeps its sign
  minus,  ///< all that is not positive has a minus, +0 included
  plus,   ///< no code zero has a minus, whatever was rounded to it
};

/// Where the random bits of a stochastic rounding go.
enum class RoundingPoint : std::uint8_t {
  element,
  scale,  ///< MS-EDEN: elements to nearest, then each 128 corrected by sum y^2 / sum y q through their block scales
};

/// What is done to the matrix before.
enum class FrontStage : std::uint8_t {
  none,
  mean,    ///< the mean over the vectors is subtracted: front_stage
  rht16,   ///< each 16 times diag(d) H / 4, the exact sum rounded once to BF16
  rht128,  ///< each 128 times H BF16(128^-1/2), the exact sum rounded once to BF16
};

enum class Nonfinite : std::uint8_t {
  refuse,     ///< NaN and infinities are errors
  nan_scale,  ///< they make their block's scale NaN and its codes 0; the tensor's maximum is that of the finite rest
};

/// One quantizer.
struct Dialect {
  std::string_view name = "narrowgauge";
  std::string_view origin = {};  ///< whose it is
  Scheme scheme = Scheme::nvfp4;
  Format element = Format::e2m1;
  ScaleOrder order = ScaleOrder::exact;
  BlockShape shape = BlockShape::row;
  float bound = 448;      ///< what the largest block scale is mapped to
  float element_max = 6;  ///< what the largest element of a block is mapped to
  ScaleCode scale = ScaleCode::exact;
  PowerRule power_rule = PowerRule::floor;
  ScaleSearch search = ScaleSearch::none;
  SearchError search_error = SearchError::input;
  ErrorSum error_sum = ErrorSum::sequential;
  ZeroScale zero_scale = ZeroScale::zero;
  ZeroSign zero_sign = ZeroSign::keep;
  Rounding rounding = Rounding::nearest_even;  ///< of the elements
  RoundingPoint point = RoundingPoint::element;
  int random_bits = 8;  ///< of an element, or of a block's scale
  FrontStage front = FrontStage::none;
  std::optional<float> constant_amax = std::nullopt;  ///< A, where it is not measured
  Nonfinite nonfinite = Nonfinite::refuse;
};

inline constexpr std::array<Dialect, 12> dialects{{
    {.name = "narrowgauge", .origin = "this project: correctly rounded, without a division"},
    {.name = "te",
     .origin = "Transformer Engine's kernels, torchao's training reference",
     .order = ScaleOrder::reciprocals,
     .zero_scale = ZeroScale::codes},
    {.name = "te_2d",
     .origin = "Transformer Engine, weights",
     .order = ScaleOrder::reciprocals,
     .shape = BlockShape::tile_16x16,
     .zero_scale = ZeroScale::codes},
    {.name = "te_4over6",
     .origin = "Transformer Engine, four over six",
     .order = ScaleOrder::quotient,
     .bound = 256,
     .search = ScaleSearch::mae,
     .zero_scale = ZeroScale::codes},
    {.name = "fouroversix",
     .origin = "the package fouroversix",
     .order = ScaleOrder::quotient,
     .bound = 256,
     .search = ScaleSearch::mse,
     .error_sum = ErrorSum::lanes,
     .zero_sign = ZeroSign::drop},
    {.name = "torchao",
     .origin = "torchao's post-training nvfp4_quantize",
     .order = ScaleOrder::quotients,
     .zero_scale = ZeroScale::floor},
    {.name = "quartet2",
     .origin = "Quartet II, MS-EDEN",
     .order = ScaleOrder::divisions,
     .bound = 255.99F,
     .element_max = static_cast<float>(6 / (17.0 / 16)),
     .error_sum = ErrorSum::pairwise,
     .zero_scale = ZeroScale::one,
     .zero_sign = ZeroSign::minus,
     .rounding = Rounding::nearest_away,
     .point = RoundingPoint::scale,
     .random_bits = 24},
    {.name = "ngpt",
     .origin = "nGPT in NVFP4: unit vectors, no maximum of the tensor",
     .order = ScaleOrder::reciprocals,
     .zero_scale = ZeroScale::codes,
     .constant_amax = 1.0F},
    {.name = "modelopt",
     .origin = "NVIDIA ModelOpt's NVFP4QTensor",
     .order = ScaleOrder::products,
     .zero_scale = ZeroScale::least,
     .zero_sign = ZeroSign::drop},
    {.name = "ggml",
     .origin = "llama.cpp: blocks of GGUF, one level of scales",
     .order = ScaleOrder::least_error,
     .scale = ScaleCode::ggml,
     .zero_scale = ZeroScale::codes,
     .zero_sign = ZeroSign::plus,
     .constant_amax = 2688.0F},
    {.name = "ocp_floor",
     .origin = "OCP Microscaling; torchao FLOOR",
     .scheme = Scheme::mxfp4,
     .nonfinite = Nonfinite::nan_scale},
    {.name = "ocp_rceil",
     .origin = "cuBLAS; torchao RCEIL",
     .scheme = Scheme::mxfp4,
     .power_rule = PowerRule::rceil,
     .nonfinite = Nonfinite::nan_scale},
}};

/// The dialect of this name. Throws Error, listing the known names, if there is none.
const Dialect& find_dialect(std::string_view name);

/// A dialect as text: a name, and fields that differ from it, as in "te_4over6:bound=448,search=mse". Values are those
/// of `fields`. `element` chooses the scheme of MX dialects, too. Throws Error, naming what is known, on others.
Dialect parse_dialect(std::string_view text);

/// A field as text; parse_dialect takes it.
struct DialectField {
  std::string_view name;
  std::string value;
  std::string expected;  ///< the values it can have
};
std::vector<DialectField> fields(const Dialect& dialect);

/// Throws Error if fields contradict each other.
void check(const Dialect& dialect);

/// What a call adds to a dialect.
struct DialectInputs {
  std::optional<float> amax = std::nullopt;          ///< A instead of the measured one
  std::optional<float> tensor_scale = std::nullopt;  ///< g instead of the computed one
  std::uint64_t seed = 0;                            ///< element i (block i) takes field i of random_fields(seed)
  /// Instead of the seed: random words below 2^random_bits, or uniform numbers of [0, 1), for which a value goes up if
  /// its number is below the probability. One for each element (vectors x k), or for each block where the scale is
  /// rounded.
  std::span<const std::uint32_t> random = {};
  std::span<const float> uniforms = {};
  unsigned threads = 0;  ///< 0: one per core
};

/// Quantizes as quantize() of quantize.hpp does, in a dialect.
QuantizedMatrix quantize(std::span<const float> x, std::size_t rows, std::size_t cols, Axis along,
                         const Dialect& dialect, const DialectInputs& inputs);

/// The tensor's factor S of the orders that have one: min(fl(B V / A), FLT_MAX), 1 if A or that is 0.
float encode_scale(const Dialect& dialect, float amax);
/// What decoding multiplies by: fl(A / (B V)), `divisions` fl(fl(A / B) / V); 1 if A is 0, and, except for the orders
/// of Transformer Engine, if the quotient is.
float tensor_scale(const Dialect& dialect, float amax);
/// What the elements of a block of this decoded scale are multiplied by, or, in the orders with fl(s p), divided by.
float block_factor(const Dialect& dialect, float block_scale, float amax);

/// Signs d of RHT16: bit i set where element i is negated. Transformer Engine's constant vector.
inline constexpr std::uint32_t rht16_signs = 0xD7E8;
/// BF16(128^-1/2), the entries of RHT128's matrix.
inline constexpr float rht128_entry = 0.08837890625F;

/// What a front stage makes of vectors.
struct FrontResult {
  std::vector<float> x;     ///< vectors x k rounded up to whole groups, padded with zeros before the stage
  std::vector<float> mean;  ///< of FrontStage::mean: k numbers of BF16
  std::size_t k = 0;
};

/// `x`: vectors x k. rht16, rht128: y_c = sum over r of d_r x_r (-1)^popcount(r and c) times 1/4 (BF16(128^-1/2)),
/// exact and rounded once to BF16, nearest even; d is +1 for rht128. mean: m = BF16(fl(fl(sum over the vectors) /
/// vectors)), that sum exact and rounded once to FP32, and BF16(fl(x - m)). Throws Error for numbers that are not
/// finite, and for results beyond BF16.
FrontResult front_stage(std::span<const float> x, std::size_t vectors, std::size_t k, FrontStage stage,
                        unsigned threads = 0);

}  // namespace narrowgauge
