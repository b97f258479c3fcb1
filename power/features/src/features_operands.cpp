// SPDX-License-Identifier: Apache-2.0
#include "features_operands.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <tuple>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/format.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/power/field_error.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/quant/rules.hpp"

namespace narrowgauge::power {
namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// P(low <= X < high) for X of N(0, 1), or of |N(0, 1)|.
double mass(double low, double high, bool half) {
  if (!half) return normal_cdf(high) - normal_cdf(low);
  return high <= 0 ? 0 : 2 * (normal_cdf(high) - normal_cdf(std::max(low, 0.0)));
}

/// Integers: round(x * largest / 3), clipped.
std::vector<double> normal_integers(int bits, bool is_signed, bool half) {
  std::vector<double> p(std::size_t{1} << bits, 0.0);
  const int largest = (1 << (is_signed ? bits - 1 : bits)) - 1;
  const int least = is_signed ? -largest : 0;
  if (largest == 0) {
    p[0] = 1;
    return p;
  }
  for (int v = least; v <= largest; ++v) {
    const double low = v == least ? -HUGE_VAL : (v - 0.5) * 3 / largest;
    const double high = v == largest ? HUGE_VAL : (v + 0.5) * 3 / largest;
    p[static_cast<std::size_t>(v) & (p.size() - 1)] = mass(low, high, half);
  }
  return p;
}

/// Floating-point codes of x / unit, rounded to nearest even, saturating.
std::vector<double> normal_floats(const FormatDesc& f, double unit, bool half) {
  std::vector<double> p(std::size_t{1} << f.bits, 0.0);
  double low = 0;
  for (std::uint32_t code = 0; code <= f.max_code(); ++code) {
    const double high =
        code == f.max_code() ? HUGE_VAL : rounding_threshold(f, code + 1, Rounding::nearest_even).value * unit;
    p[code] = mass(low, high, half);
    if (!half) p[code | f.sign_mask()] = p[code];
    low = high;
  }
  return p;
}

/// A normal number; equal on every machine, unlike those of the standard's distributions.
float normal(std::mt19937_64& engine, bool half) {
  const auto uniform = [&] { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; };
  const double u = uniform();
  const auto value = static_cast<float>(standard_normal(u, uniform()));
  return half ? std::fabs(value) : value;
}

/// The tensors of the stimuli (stimulus.cpp): rows, contraction. Their largest value is 3.9 on average.
constexpr std::size_t tensor_rows = 32, tensor_columns = 256, tensors = 32;
constexpr double tensor_largest = 3.9;

struct Codes {
  std::vector<std::uint8_t> codes, scales;
};

/// N(0, 1), or |N(0, 1)|, through the quantizer of NVFP4, MXFP4, or of an operand of LUQ: blocks scale with their
/// largest element, SAWB's clip follows from all numbers, which no closed form catches.
const Codes& quantized_normal(Scheme scheme, bool half) {
  static std::mutex mutex;
  static std::map<std::pair<Scheme, bool>, Codes> made;
  const std::lock_guard lock(mutex);
  Codes& all = made[{scheme, half}];
  std::mt19937_64 engine(1);
  for (std::size_t i = all.codes.empty() ? 0 : tensors; i < tensors; ++i) {
    std::vector<float> x(tensor_rows * tensor_columns);
    for (float& value : x) value = normal(engine, half);
    const QuantizedMatrix q =
        quantize(x, tensor_rows, tensor_columns, Axis::rows,
                 {.scheme = scheme, .element = has_block_scales(scheme) ? Format::e2m1 : Format::e3m0, .threads = 1});
    all.codes.insert(all.codes.end(), q.codes.begin(), q.codes.end());
    all.scales.insert(all.scales.end(), q.scales.begin(), q.scales.end());
  }
  return all;
}

std::vector<double> histogram(const std::vector<std::uint8_t>& codes, std::size_t size) {
  std::vector<double> p(size, 0.0);
  for (const std::uint8_t code : codes) p[code] += 1;
  for (double& value : p) value /= static_cast<double>(codes.size());
  return p;
}

/// Weights with a mean magnitude of `additions` steps, rounded to steps (PANN's quantizer): N(0, 1), its magnitude, or
/// uniform in -1 to 1.
std::vector<double> repeated_additions(const MacSpec& mac, Distribution distribution) {
  const bool uniform = distribution == Distribution::uniform, half = distribution == Distribution::half_normal;
  const double mean = uniform ? 0.5 : std::sqrt(2 / std::numbers::pi), step = mean / mac.additions;
  const double most = std::round((uniform ? 1 : tensor_largest) / step);
  const int largest = (1 << mac.b_width) - 1;
  if (most > largest)
    throw FieldError("b_width", std::to_string(mac.b_width),
                     std::to_string(static_cast<int>(std::log2(most)) + 1) + " or more: with " +
                         std::to_string(mac.additions) + " additions a weight the largest takes about " +
                         std::to_string(static_cast<int>(most)));
  std::vector<double> p(std::size_t{2} << mac.b_width, 0.0);
  for (int v = half ? 0 : -largest; v <= largest; ++v) {
    const double low = (v - 0.5) * step, high = (v + 0.5) * step;
    p[static_cast<std::size_t>(v) & (p.size() - 1)] =
        uniform ? std::max(0.0, std::min(high, 1.0) - std::max(low, -1.0)) / 2 : mass(low, high, half);
  }
  return p;
}

Scheme scheme_of(MacFormat format) { return format == MacFormat::nvfp4 ? Scheme::nvfp4 : Scheme::mxfp4; }

Format element_format(MacFormat format) {
  switch (format) {
    case MacFormat::fp8_e4m3:
      return Format::e4m3;
    case MacFormat::fp8_e5m2:
      return Format::e5m2;
    case MacFormat::bf16:
      return Format::bf16;
    case MacFormat::fp16:
      return Format::fp16;
    case MacFormat::tf32:
      return Format::tf32;
    case MacFormat::fp32:
      return Format::fp32;
    case MacFormat::fp4_e3m0:
      return Format::e3m0;
    default:
      return Format::e2m1;
  }
}

}  // namespace

int code_bits(const MacSpec& mac, bool b) {
  const MacFormat format = mac.format_of(b);
  if (format == MacFormat::integer) return b ? mac.b_width + has_magnitudes(mac) : mac.a_width;
  return desc(element_format(format)).bits;
}

std::size_t block_lanes(const MacSpec& mac) {
  const auto block = [](MacFormat format) -> std::size_t {
    return format == MacFormat::nvfp4 ? 16 : format == MacFormat::mxfp4 ? 32 : 1;
  };
  return std::max(block(mac.a_format), block(mac.b_format));
}

std::vector<double> code_probabilities(const MacSpec& mac, bool b, const OperandStatistics& statistics) {
  const int bits = code_bits(mac, b);
  const std::size_t size = std::size_t{1} << bits;
  const bool half = statistics.distribution == Distribution::half_normal;
  const bool integer = mac.format_of(b) == MacFormat::integer;
  const FormatDesc& f = desc(element_format(mac.format_of(b)));
  if (b && is_repeated(mac) && statistics.distribution != Distribution::histogram)
    return repeated_additions(mac, statistics.distribution);
  switch (statistics.distribution) {
    case Distribution::histogram: {
      const std::string name = b ? "b.histogram" : "a.histogram";
      const auto& counts = statistics.histogram;
      if (!counts || counts->size() != size)
        throw Error(name + " has " + std::to_string(counts ? counts->size() : 0) + " entries, expected 2^" +
                    std::to_string(bits) + " = " + std::to_string(size) + ", one a code");
      double sum = 0;
      for (const double count : *counts) {
        if (!(count >= 0) || !std::isfinite(count))
          throw Error(name + " has the entry " + std::to_string(count) + ", expected 0 or more");
        sum += count;
      }
      if (!(sum > 0)) throw Error(name + " has no entry above 0");
      std::vector<double> p = *counts;
      for (double& value : p) value /= sum;
      return p;
    }
    case Distribution::uniform: {
      std::vector<double> p(size, 1.0);
      if (!integer)
        for (std::uint32_t code = 0; code < size; ++code)
          if (f.is_nan(code) || f.is_inf(code)) p[code] = 0;
      if (b && is_split(mac)) p[size / 2] = 0;
      const double sum = std::accumulate(p.begin(), p.end(), 0.0);
      for (double& value : p) value /= sum;
      return p;
    }
    default:
      if (mac.luq()) return histogram(quantized_normal(luq_scheme(b), half).codes, size);
      if (integer) {
        const bool is_signed = b ? mac.b_signed || is_split(mac) : mac.a_signed;
        return normal_integers(bits, is_signed, half || !is_signed);
      }
      if (mac.is(MacFormat::nvfp4) || mac.is(MacFormat::mxfp4))
        return histogram(quantized_normal(scheme_of(mac.format()), half).codes, size);
      // FP8: the tensor's largest value becomes the largest code; wider formats have no scale.
      return normal_floats(f, bits == 8 ? tensor_largest / decode(f, f.max_code()) : 1.0, half);
  }
}

void order_products(const MacSpec& mac, std::size_t every, std::vector<std::uint32_t>& a,
                    std::vector<std::uint32_t>& b) {
  if (!is_repeated(mac) && mac.schedule != Schedule::sorted) return;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sum;
  for (std::size_t begin = 0; begin < b.size(); begin += every) {
    const std::size_t n = std::min(every, b.size() - begin);
    sum.clear();
    for (std::size_t i = begin; i < begin + n; ++i) sum.emplace_back(a[i], b[i]);
    std::stable_partition(sum.begin(), sum.end(), [&](const auto& x) { return x.second >> mac.b_width == 0; });
    for (std::size_t i = 0; i < n; ++i) std::tie(a[begin + i], b[begin + i]) = sum[i];
  }
}

std::vector<std::uint32_t> float_codes(Distribution distribution, std::size_t n, std::mt19937_64& engine) {
  if (distribution == Distribution::histogram)
    throw Error("histogram: fp32 has too many codes for one; expected uniform, gauss or half_normal");
  std::vector<std::uint32_t> codes(n);
  for (auto& code : codes) {
    if (distribution == Distribution::uniform) do
        code = static_cast<std::uint32_t>(engine() >> 32);
      while ((code >> 23 & 255) == 255);
    else
      code = std::bit_cast<std::uint32_t>(normal(engine, distribution == Distribution::half_normal));
  }
  return codes;
}

std::vector<double> scale_probabilities(MacFormat format, Distribution distribution) {
  if (distribution == Distribution::uniform) {
    // 0.5 to 2: UE4M3 codes 0x30 to 0x40, E8M0 codes 126 to 128.
    std::vector<double> p(256, 0.0);
    const auto [first, last] = format == MacFormat::nvfp4 ? std::pair{0x30, 0x40} : std::pair{126, 128};
    for (int code = first; code <= last; ++code) p[static_cast<std::size_t>(code)] = 1.0 / (last - first + 1);
    return p;
  }
  return histogram(quantized_normal(scheme_of(format), distribution == Distribution::half_normal).scales, 256);
}

}  // namespace narrowgauge::power
