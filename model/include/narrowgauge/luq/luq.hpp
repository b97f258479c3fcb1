// SPDX-License-Identifier: Apache-2.0
// Quantizers and matrix product of LUQ, 4-bit training without multipliers ("Accurate Neural Training with 4-bit Matrix
// Multiplications at Standard Formats", arXiv 2112.10769): gradients in FP4 [1,3,0], weights and activations in INT4.
// The rules are on docs/luq.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace narrowgauge {

/// Non-zero magnitudes alpha 2^0 to alpha 2^(levels - 1). 7 of them and zero, with a sign, are FP4 [1,3,0]; the
/// authors' code has 8, which with zero take five bits: they exist here to reproduce its figures, not for hardware.
inline constexpr int luq_storage_levels = 7;
inline constexpr int luq_paper_levels = 8;

/// How a number between two of the grid is rounded.
enum class LuqRounding : std::uint8_t {
  stochastic,     ///< LUQ: unbiased
  nearest_power,  ///< RDNP, to the nearer of the two; the middle of two powers goes up, that of 0 and alpha to 0
};

struct LuqOptions {
  int levels = luq_storage_levels;  ///< 7 or 8
  LuqRounding rounding = LuqRounding::stochastic;
  bool power_of_two = true;        ///< alpha is rounded up to a power of two, 2^-127 at least; false: exact
  int random_bits = 8;             ///< of an element, 1 to 24
  std::uint64_t seed = 0;          ///< element i takes field first_field + i of random_fields(seed)
  std::uint64_t first_field = 0;   ///< samples of one tensor take fields one after the other
  std::optional<float> amax = {};  ///< a known maximum, as of HindsightMax, instead of the tensor's
};

/// Numbers of FP4 [1,3,0]: sign above the exponent field. Field c > 0 stands for alpha 2^(c - 1), field 0 for zero; the
/// sign is bit 3 with 7 levels, when codes are those of `e3m0`, and bit 4 with 8.
struct LuqTensor {
  std::vector<std::uint8_t> codes;
  float alpha = 1;
  int levels = luq_storage_levels;
};

/// Value of a code in units of alpha, an integer.
constexpr int luq_value(unsigned code, int levels) {
  const int sign_bit = levels == luq_storage_levels ? 3 : 4;
  const int field = static_cast<int>(code & ((1U << sign_bit) - 1));
  const int magnitude = field == 0 ? 0 : 1 << (field - 1);
  return (code >> sign_bit & 1) != 0 ? -magnitude : magnitude;
}

/// alpha for a tensor of this largest magnitude: amax / 2^(levels - 1), rounded up where that is no FP32 number, so
/// that nothing clips; with power_of_two the least 2^e, e >= -127, that is not below it. 1 if amax is 0. Throws Error
/// unless amax is finite and not negative.
float luq_alpha(float amax, int levels = luq_storage_levels, bool power_of_two = true);

/// Code of a finite `x` under `alpha`, decided exactly by comparing |x| with a multiple of alpha. Stochastic underflow
/// (|x| < alpha becomes alpha with probability |x| / alpha) and logarithmic stochastic rounding are one rule on the
/// grid 0, alpha, 2 alpha, 4 alpha and so on: between neighbours l < u, delta = (|x| - l) / (u - l), up if and only if
/// floor(delta 2^random_bits) + random >= 2^random_bits. What exceeds the largest level becomes that. Signs are kept,
/// those of zeros too.
std::uint8_t luq_code(float x, float alpha, int levels, LuqRounding rounding, std::uint32_t random = 0,
                      int random_bits = 8);

/// Quantizes `x`. Throws Error, naming place and value, on NaN or infinity; on an empty tensor; on options out of
/// range.
LuqTensor luq_quantize(std::span<const float> x, const LuqOptions& options = {});

/// SMP: `samples` quantizations with independent random bits (sample s takes fields first_field + s n + i), whose
/// products are averaged: the variance divides by `samples`. Throws Error as luq_quantize, and unless 1 <= samples <=
/// 256 and rounding is stochastic.
std::vector<LuqTensor> luq_samples(std::span<const float> x, int samples, const LuqOptions& options = {});

/// The values, exact in double.
std::vector<double> luq_dequantize(const LuqTensor& q);

/// The maximum that is used before a tensor is there: m of the next tensor is (1 - eta) amax + eta m, in double,
/// rounded to FP32; the first maximum is taken as it is. The paper does not state eta. Throws Error unless 0 <= eta <
/// 1, and on maxima that are negative or not finite.
class HindsightMax {
 public:
  /// All that it remembers, to go on elsewhere.
  struct State {
    double eta;
    float amax;
    bool empty;  ///< nothing was recorded
  };

  explicit HindsightMax(double eta = 0.1);
  explicit HindsightMax(const State& state) : HindsightMax(state.eta) {
    amax_ = state.amax;
    empty_ = state.empty;
  }
  State state() const { return {eta_, amax_, empty_}; }
  /// For the next tensor; 0 before the first was recorded.
  float amax() const { return amax_; }
  void record(float amax);

 private:
  double eta_;
  float amax_ = 0;
  bool empty_ = true;
};

/// INT4 numbers, -8 to 7, value times `scale`.
struct Int4Tensor {
  std::vector<std::int8_t> values;
  float scale = 1;
};

/// SAWB's clipping of weights and activations for 4 bits: 12.1 sqrt(mean x^2) - 12.2 mean |x|, in double, summed in
/// order; where that is not positive, the largest magnitude; 0 for zeros. Throws Error on NaN, infinity and an empty
/// tensor.
double sawb_clip(std::span<const float> x);

/// INT4 under scale = fl(2 clip / 15), the quotient of every number rounded to nearest even, exactly, and saturating at
/// -8 and 7. `clip` is sawb_clip(x) if none is given; 0 gives the scale 1. Throws Error on NaN, infinity, an empty
/// tensor, a clip that is negative or not finite.
Int4Tensor int4_quantize(std::span<const float> x, std::optional<double> clip = {});

/// The values, exact in double.
std::vector<double> int4_dequantize(const Int4Tensor& q);

/// C(i, j) = sum over k of a(i, k) b(j, k), m x n: the exact integer sum, rounded once to FP32, times both scales as in
/// gemm() (mac/gemm.hpp). `a` is m x k, `b` n x k, both row-major. Throws Error where a length does not fit, k exceeds
/// 2^20, a value is not INT4 or a code none of its levels. Unsigned activations, 0 to 15, are refused: 9, 11, 13 and 15
/// take three bits of mantissa, and the product, FP7 [1,4,2], has two.
std::vector<float> luq_gemm(const Int4Tensor& a, const LuqTensor& b, std::size_t m, std::size_t n, std::size_t k);

/// The mean of the products with every sample of SMP: of the FP32 results, summed in double, in order, rounded once.
std::vector<float> luq_gemm(const Int4Tensor& a, std::span<const LuqTensor> samples, std::size_t m, std::size_t n,
                            std::size_t k);

}  // namespace narrowgauge
