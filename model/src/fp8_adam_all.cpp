// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/fp8_adam_all.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/convert.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/delayed_scaling.hpp"

namespace narrowgauge {
namespace {

constexpr std::size_t piece = std::size_t{1} << 12;
constexpr std::size_t alone = 4096;  // elements that one thread is done with in the time that starting others takes

/// rsqrt_fp32 of a positive finite number. A double's root is off by a few last places, which matters only where it
/// lies beside the middle of two floats.
float root_of_reciprocal(float x) {
  const double root = 1 / std::sqrt(static_cast<double>(x));
  constexpr std::uint64_t below = (std::uint64_t{1} << 29) - 1, middle = std::uint64_t{1} << 28, doubt = 16;
  const std::uint64_t rest = std::bit_cast<std::uint64_t>(root) & below;
  if (rest + doubt > middle && rest < middle + doubt) {
    return std::bit_cast<float>(rsqrt_fp32(std::bit_cast<std::uint32_t>(x)));
  }
  return static_cast<float>(root);
}

/// The constants as floats.
struct Constants {
  float m_decay, m_gain, v_decay, v_gain, root_scale, epsilon, rate, keep, v_floor;
};

struct Moved {
  float m, v, weight;
};

/// The lines of fp8_adam. Products with its -0 added are products, since no sum is exact zero but of zeros.
Moved move(const Constants& k, float gradient, float weight, float m_old, float v_old, bool v_code_is_zero) {
  const float m = std::fma(k.m_decay, m_old, k.m_gain * gradient);
  const float v = std::fma(k.v_decay, v_old, k.v_gain * gradient * gradient);
  const bool lost = v_code_is_zero && !std::isnan(v) && !std::signbit(v) && v < k.v_floor;
  const float divided = lost ? k.v_floor : v;
  const bool plain = divided != 0 && std::isfinite(divided);
  float root = divided;
  if (plain && divided > 0) {
    root = divided * root_of_reciprocal(divided);
  } else if (plain) {
    root = std::numeric_limits<float>::quiet_NaN();
  }
  const float divisor = std::fma(root, k.root_scale, k.epsilon);
  return {m, v, std::fma(weight, k.keep, -(m * k.rate / divisor))};
}

/// The codes of moments under a scale.
void narrow(Format format, std::span<const std::uint32_t> moments, float scale, const Fp8AdamAllOptions& options,
            std::span<const std::uint32_t> random, std::span<std::uint8_t> codes) {
  std::array<float, piece> scaled;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    scaled[i] = std::bit_cast<float>(fp32_bits(std::bit_cast<float>(moments[i]) * scale));
  }
  const bool nearest = options.random_bits == 0;
  encode_span(format, std::span(scaled).first(moments.size()), codes,
              {.rounding = nearest ? Rounding::nearest_even : Rounding::stochastic,
               .overflow = desc(format).overflow,
               .random_bits = nearest ? 8 : options.random_bits},
              random);
}

/// What a moment of this largest magnitude, a code of FP32, is multiplied by; NaN and infinity leave 1.
float measured(std::uint32_t largest, float of_format) {
  DelayedScaling scaling({.largest = of_format, .history = 1});
  scaling.record(std::bit_cast<float>(largest));
  return scaling.scale();
}

void raise(std::atomic<std::uint32_t>& largest, std::uint32_t mine) {
  std::uint32_t seen = largest;
  while (seen < mine && !largest.compare_exchange_weak(seen, mine)) {
  }
}

}  // namespace

Fp8AdamScales fp8_adam_all(const Fp8AdamStep& step, const Fp8AdamTensor& old, const Fp8AdamNewTensor& next,
                           const Fp8AdamAllOptions& options) {
  const std::size_t size = old.gradient.size();
  for (const std::size_t length : {old.weight.size(), old.m.size(), old.v.size(), next.weight.size(), next.m.size(),
                                   next.v.size(), next.m_fp32.size(), next.v_fp32.size()}) {
    if (length == size) continue;
    throw Error("an array of Adam's step has " + std::to_string(length) + " elements; expected " +
                std::to_string(size) + " as the gradient has");
  }
  const Fp8AdamConstants codes = fp8_adam_constants(step);
  const auto real = [](std::uint32_t code) { return std::bit_cast<float>(code); };
  const Constants constants{
      real(codes.m_decay), real(codes.m_gain),     real(codes.v_decay),
      real(codes.v_gain),  real(codes.root_scale), real(codes.epsilon),
      real(codes.rate),    real(codes.keep),       real(options.floor ? fp8_adam_floor(step) : 0)};
  std::array<float, 256> m_value{}, v_value{};
  for (unsigned code = 0; code < 256; ++code) {
    m_value[code] = static_cast<float>(decode(Format::e4m3, code));
    v_value[code] = static_cast<float>(decode(Format::e5m2, code));
  }
  const unsigned threads = size < alone ? 1 : options.threads;
  const std::size_t jobs = (size + piece - 1) / piece;
  std::atomic<std::uint32_t> m_largest{0}, v_largest{0};
  detail::parallel_for(jobs, threads, [&](std::size_t job) {
    std::uint32_t m_most = 0, v_most = 0;
    for (std::size_t i = job * piece; i < std::min(size, (job + 1) * piece); ++i) {
      const Moved moved = move(constants, real(old.gradient[i]), real(old.weight[i]), m_value[old.m[i]],
                               v_value[old.v[i]], (old.v[i] & 0x7F) == 0);
      next.m_fp32[i] = fp32_bits(moved.m);
      next.v_fp32[i] = fp32_bits(moved.v);
      next.weight[i] = fp32_bits(moved.weight);
      m_most = std::max(m_most, next.m_fp32[i] & 0x7FFFFFFF);
      v_most = std::max(v_most, next.v_fp32[i] & 0x7FFFFFFF);
    }
    raise(m_largest, m_most);
    raise(v_largest, v_most);
  });
  Fp8AdamScales scales{step.m_scale, step.v_scale};
  if (options.measure_scales) {
    scales = {measured(m_largest, m_value[0x7E]), measured(v_largest, v_value[0x7B])};
  }
  detail::parallel_for(jobs, threads, [&](std::size_t job) {
    const std::size_t first = job * piece, count = std::min(piece, size - first);
    std::vector<std::uint32_t> fields, m_random, v_random;
    if (options.random_bits != 0) {
      fields.resize(2 * count);
      random_fields(options.seed, 2 * first, options.random_bits, fields);
      for (std::size_t i = 0; i < count; ++i) {
        m_random.push_back(fields[2 * i]);
        v_random.push_back(fields[2 * i + 1]);
      }
    }
    narrow(Format::e4m3, next.m_fp32.subspan(first, count), scales.m, options, m_random, next.m.subspan(first, count));
    narrow(Format::e5m2, next.v_fp32.subspan(first, count), scales.v, options, v_random, next.v.subspan(first, count));
  });
  return scales;
}

}  // namespace narrowgauge
