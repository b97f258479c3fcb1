// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/luq/luq.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "luq_grid.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/parallel.hpp"
#include "sizes.hpp"

namespace narrowgauge {
namespace {

constexpr std::size_t max_k = std::size_t{1} << 20;  // sums stay below 2^20 * 8 * 128 = 2^30

void check_levels(int levels) {
  if (levels != luq_storage_levels && levels != luq_paper_levels) {
    throw Error("levels is " + std::to_string(levels) +
                "; expected 7, which with zero fills FP4 [1,3,0], or 8, as the authors' code has, in five bits");
  }
}

void check_random_bits(int bits) {
  if (bits < 1 || bits > 24) throw Error("random_bits is " + std::to_string(bits) + "; expected 1 to 24");
}

void check_amax(float amax) {
  if (!(std::isfinite(amax) && amax >= 0)) {
    throw Error("the largest magnitude is " + std::to_string(amax) + "; expected a finite number, 0 or more");
  }
}

/// The largest magnitude of finite numbers.
float largest(std::span<const float> x) {
  if (x.empty()) throw Error("x is empty; expected at least one number");
  float amax = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      throw Error("element " + std::to_string(i) + " is " + std::to_string(x[i]) +
                  "; expected finite numbers; mend or mask them before quantizing");
    }
    amax = std::max(amax, std::fabs(x[i]));
  }
  return amax;
}

}  // namespace

float luq_alpha(float amax, int levels, bool power_of_two) {
  check_levels(levels);
  check_amax(amax);
  if (amax == 0) return 1;
  const double exact = std::ldexp(double{amax}, 1 - levels);
  if (power_of_two) {
    int exponent = std::ilogb(exact);
    if (std::ldexp(1.0, exponent) < exact) ++exponent;
    return std::ldexp(1.0F, std::max(exponent, -127));
  }
  const auto near = static_cast<float>(exact);
  return double{near} < exact ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

std::uint8_t luq_code(float x, float alpha, int levels, LuqRounding rounding, std::uint32_t random, int random_bits) {
  return detail::LuqGrid(alpha, levels, rounding, random_bits).code(x, random);
}

LuqTensor luq_quantize(std::span<const float> x, const LuqOptions& options) {
  check_levels(options.levels);
  check_random_bits(options.random_bits);
  const float own = largest(x);
  LuqTensor q{.codes = std::vector<std::uint8_t>(x.size()),
              .alpha = luq_alpha(options.amax.value_or(own), options.levels, options.power_of_two),
              .levels = options.levels};
  std::vector<std::uint32_t> random(options.rounding == LuqRounding::stochastic ? x.size() : 0);
  random_fields(options.seed, options.first_field, options.random_bits, random);
  const detail::LuqGrid grid(q.alpha, q.levels, options.rounding, options.random_bits);
  detail::Pace pace;
  for (std::size_t i = 0; i < x.size(); ++i) {
    pace();
    q.codes[i] = grid.code(x[i], random.empty() ? 0 : random[i]);
  }
  return q;
}

std::vector<LuqTensor> luq_samples(std::span<const float> x, int samples, const LuqOptions& options) {
  if (samples < 1 || samples > 256) throw Error("samples is " + std::to_string(samples) + "; expected 1 to 256");
  if (options.rounding != LuqRounding::stochastic) {
    throw Error("samples were asked for without stochastic rounding: they would all be equal");
  }
  std::vector<LuqTensor> all;
  LuqOptions next = options;
  for (int s = 0; s < samples; ++s, next.first_field += x.size()) all.push_back(luq_quantize(x, next));
  return all;
}

std::vector<double> luq_dequantize(const LuqTensor& q) {
  std::vector<double> values(q.codes.size());
  detail::Pace pace;
  for (std::size_t i = 0; i < values.size(); ++i) {
    pace();
    const double value = luq_value(q.codes[i], q.levels) * double{q.alpha};
    values[i] = (q.codes[i] >> (q.levels == luq_storage_levels ? 3 : 4) & 1) != 0 ? -std::fabs(value) : value;
  }
  return values;
}

HindsightMax::HindsightMax(double eta) : eta_(eta) {
  if (!(eta >= 0 && eta < 1)) throw Error("eta is " + std::to_string(eta) + "; expected 0 or more, below 1");
}

void HindsightMax::record(float amax) {
  check_amax(amax);
  amax_ = empty_ ? amax : static_cast<float>((1 - eta_) * amax + eta_ * amax_);
  empty_ = false;
}

double sawb_clip(std::span<const float> x) {
  const float amax = largest(x);
  double squares = 0, magnitudes = 0;
  detail::Pace pace;
  for (const float v : x) {
    pace();
    squares += double{v} * v;
    magnitudes += std::fabs(double{v});
  }
  const auto n = static_cast<double>(x.size());
  const double clip = 12.1 * std::sqrt(squares / n) - 12.2 * (magnitudes / n);
  return clip > 0 ? clip : double{amax};
}

Int4Tensor int4_quantize(std::span<const float> x, std::optional<double> clip) {
  static_cast<void>(largest(x));
  const double limit = clip ? *clip : sawb_clip(x);
  if (!(std::isfinite(limit) && limit >= 0)) {
    throw Error("clip is " + std::to_string(limit) + "; expected a finite number, 0 or more");
  }
  Int4Tensor q{.values = std::vector<std::int8_t>(x.size()), .scale = static_cast<float>(2 * limit / 15)};
  if (!std::isfinite(q.scale)) {
    throw Error("clip is " + std::to_string(limit) + "; expected one whose scale, 2 clip / 15, is an FP32 number");
  }
  if (q.scale == 0) q.scale = limit == 0 ? 1 : std::numeric_limits<float>::denorm_min();
  detail::Pace pace;
  for (std::size_t i = 0; i < x.size(); ++i) {
    pace();
    const double magnitude = std::fabs(double{x[i]});
    const int most = std::signbit(x[i]) ? 8 : 7;
    int value = 0;  // the midpoint below the next one is 28 bits at most, exact
    while (value < most) {
      const double middle = (value + 0.5) * double{q.scale};
      if (magnitude < middle || (magnitude == middle && value % 2 == 0)) break;
      ++value;
    }
    q.values[i] = static_cast<std::int8_t>(std::signbit(x[i]) ? -value : value);
  }
  return q;
}

std::vector<double> int4_dequantize(const Int4Tensor& q) {
  std::vector<double> values(q.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = q.values[i] * double{q.scale};
  return values;
}

std::vector<float> luq_gemm(const Int4Tensor& a, const LuqTensor& b, std::size_t m, std::size_t n, std::size_t k) {
  check_levels(b.levels);
  if (m == 0 || n == 0 || k == 0 || k > max_k) {
    throw Error("the product is " + std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                "; expected sizes of 1 or more, and a contraction of at most " + std::to_string(max_k));
  }
  if (!detail::is_product(a.values.size(), m, k) || !detail::is_product(b.codes.size(), n, k)) {
    throw Error("the INT4 operand has " + std::to_string(a.values.size()) + " values and the FP4 operand " +
                std::to_string(b.codes.size()) + " codes; expected " + std::to_string(m * k) + " and " +
                std::to_string(n * k) + ", rows times contraction");
  }
  for (const std::int8_t value : a.values) {
    if (value < -8 || value > 7) {
      throw Error(
          "the INT4 operand holds " + std::to_string(value) +
          "; expected -8 to 7; unsigned activations, 0 to 15, are refused because 9, 11, 13 and 15 take three bits "
          "of mantissa and the product, FP7 [1,4,2], has two: quantize them as signed numbers");
    }
  }
  const unsigned sign_bit = b.levels == luq_storage_levels ? 3 : 4;
  std::vector<std::int16_t> right(n * k);
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (b.codes[i] >> (sign_bit + 1) != 0 || static_cast<int>(b.codes[i] & ((1U << sign_bit) - 1)) > b.levels) {
      throw Error("the FP4 operand holds the code " + std::to_string(b.codes[i]) + "; expected a sign in bit " +
                  std::to_string(sign_bit) + " above a field of 0 to " + std::to_string(b.levels));
    }
    right[i] = static_cast<std::int16_t>(luq_value(b.codes[i], b.levels));
  }
  const EpilogueScales scales = epilogue_scales(a.scale, b.alpha);
  std::vector<float> c(m * n);
  detail::Pace pace;
  for (std::size_t i = 0; i < m; ++i) {
    const std::int8_t* const row = a.values.data() + i * k;
    for (std::size_t j = 0; j < n; ++j) {
      pace(k);
      const std::int16_t* const column = right.data() + j * k;
      std::int32_t sum = 0;
      for (std::size_t t = 0; t < k; ++t) sum += row[t] * column[t];
      c[i * n + j] = epilogue(fixed_to_fp32(sum, 0), scales);
    }
  }
  return c;
}

std::vector<float> luq_gemm(const Int4Tensor& a, std::span<const LuqTensor> samples, std::size_t m, std::size_t n,
                            std::size_t k) {
  if (samples.empty()) throw Error("there are no samples; expected at least one");
  std::vector<double> sums(m * n);
  for (const LuqTensor& sample : samples) {
    const std::vector<float> c = luq_gemm(a, sample, m, n, k);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += c[i];
  }
  std::vector<float> mean(sums.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    mean[i] = static_cast<float>(sums[i] / static_cast<double>(samples.size()));
  }
  return mean;
}

}  // namespace narrowgauge
