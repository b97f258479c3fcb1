// SPDX-License-Identifier: Apache-2.0
// Dialects: vectors are laid out one after the other, a tile of 16 x 16 as 256 elements, and go through the sequence of
// their order step by step, each step over all blocks of a vector (of a row of tiles), so that it can be vectorized.
#include "narrowgauge/quant/dialect.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "block_kernels.hpp"
#include "exact_sum.hpp"
#include "kernels.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/convert.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/eden_scale.hpp"
#include "narrowgauge/quant/rules.hpp"
#include "quantize_parts.hpp"
#include "sizes.hpp"

namespace narrowgauge {
namespace {

using detail::kernels;

constexpr float flt_max = std::numeric_limits<float>::max();
constexpr std::uint32_t inf_bits = 0x7F800000;
constexpr std::array<float, 16> e2m1_value{0,     0.5F,  1,     1.5F,  2,     3,     4,     6,
                                           -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
constexpr std::size_t eden_group = 128;

std::string text(std::string_view s) { return std::string(s); }

/// As many digits as make the number unique.
std::string shortest(float value) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

/// fl(B V), exact for the bounds and maxima of all named dialects but quartet2, which does not use it.
float full_scale(const Dialect& d) { return static_cast<float>(double{d.bound} * d.element_max); }

float ue4m3(std::uint8_t code) { return static_cast<float>(decode(Format::ue4m3, code)); }

/// One scale of a candidate: its code, and what elements are multiplied (divided) by.
struct Candidate {
  std::vector<std::uint8_t> scales, codes;
  std::vector<float> factor, y;
  void resize(std::size_t blocks, std::size_t length) {
    scales.resize(blocks);
    factor.resize(blocks);
    codes.resize(blocks * length);
    y.resize(blocks * length);
  }
};

struct Scratch {
  Candidate six, four;
  std::vector<float> amax, raw;
  std::vector<std::uint32_t> random;
  std::vector<float> tile;
  std::vector<std::uint8_t> tile_codes;
};

/// The random bits of some elements or blocks: of a caller, or of the seed.
class Randomness {
 public:
  Randomness(const Dialect& d, const DialectInputs& inputs) : bits_(d.random_bits), inputs_(inputs) {}
  bool has_uniforms() const { return !inputs_.uniforms.empty(); }
  /// Fields first ... first + out.size() - 1 of the padded codes (or the blocks); `given` is the caller's index of the
  /// first one, of whose numbers there are `count`.
  void words(std::uint64_t first, std::size_t given, std::size_t count, std::span<std::uint32_t> out) const {
    if (inputs_.random.empty()) return random_fields(inputs_.seed, first, bits_, out);
    std::fill(out.begin(), out.end(), 0);
    std::copy_n(inputs_.random.begin() + static_cast<std::ptrdiff_t>(given), count, out.begin());
  }
  float uniform(std::size_t given) const { return inputs_.uniforms[given]; }

 private:
  int bits_;
  const DialectInputs& inputs_;
};

/// `code` of the value `v` with the sign that a dialect gives it that does not keep it, in the bit above `payload`.
std::uint8_t with_sign(const Dialect& d, std::uint32_t code, float v, std::uint32_t payload) {
  const bool negative = d.zero_sign == ZeroSign::drop   ? v < 0
                        : d.zero_sign == ZeroSign::plus ? std::signbit(v) && (code & payload) != 0
                                                        : !(v > 0);
  return static_cast<std::uint8_t>((code & payload) | (negative ? payload + 1 : 0));
}

/// ScaleCode::ggml for r of 0 to 448.
std::uint8_t ggml_scale(float r) {
  constexpr std::uint32_t largest = 0x7E, above_240 = 0x78, subnormal = 7;
  if (r < 0x1p-6F) {
    const float steps = r * 512 + 0.5F;  // rounded, so that the number below 2^-10 is a whole step
    return static_cast<std::uint8_t>(std::min(static_cast<std::uint32_t>(steps), subnormal));
  }
  const std::uint32_t code = encode(Format::ue4m3, r, {.rounding = Rounding::nearest_away});
  return static_cast<std::uint8_t>(code >= above_240 ? largest : code);
}

/// Whether the order has a factor fl(s p).
bool has_unit(ScaleOrder order) {
  return order == ScaleOrder::divisions || order == ScaleOrder::products || order == ScaleOrder::least_error;
}

/// Sum of `n` errors (a multiple of 16) in FP32.
float add_errors(const float* e, std::size_t n, ErrorSum order) {
  if (order == ErrorSum::sequential) {
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += e[i];
    return sum;
  }
  if (order == ErrorSum::pairwise) {
    std::array<float, 8> r{};
    std::copy_n(e, 8, r.begin());
    for (std::size_t i = 8; i < n; ++i) r[i % 8] += e[i];
    return ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  std::array<std::array<float, 8>, 4> lanes{};
  for (std::size_t i = 0; i < n; ++i) lanes[i / 8 % 4][i % 8] += e[i];
  float sum = 0;
  for (std::size_t i = 0; i < 8; ++i) sum += ((lanes[0][i] + lanes[1][i]) + lanes[2][i]) + lanes[3][i];
  return sum;
}

float block_error(const float* e, std::size_t length, ErrorSum order) {
  if (length == 16 || order != ErrorSum::sequential) return add_errors(e, length, order);
  std::array<float, 16> rows{};
  for (std::size_t i = 0; i < 16; ++i) rows[i] = add_errors(e + i * 16, 16, order);
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) rows[i] += rows[i + half];
  }
  return rows[0];
}

/// NVFP4 in every order: blocks of `length` (16 or 256) elements.
class Nvfp4Quantizer {
 public:
  Nvfp4Quantizer(const Dialect& d, float amax, float g)
      : d_(d), amax_(amax), g_(g), s_enc_(encode_scale(d, amax)), s_dec_(1.0F / s_enc_), full_(full_scale(d)) {
    for (std::size_t code = 0; code < 127; ++code) value_[code] = ue4m3(static_cast<std::uint8_t>(code));
    value_[127] = std::numeric_limits<float>::quiet_NaN();
    for (std::uint32_t code = 1; code < 8; ++code) {
      threshold_[code - 1] = rounding_threshold(
          desc(Format::e2m1), code, d.rounding == Rounding::stochastic ? Rounding::toward_zero : d.rounding);
    }
  }

  /// Codes and scales of whole blocks. Words, if any, are one for each element.
  void operator()(const float* x, std::size_t blocks, std::size_t length, const std::uint32_t* words,
                  const float* uniforms, Scratch& scratch) const {
    scratch.amax.resize(blocks);
    scratch.raw.resize(blocks);
    for (std::size_t b = 0; b < blocks; ++b) {
      scratch.amax[b] = finite_amax(x + b * length, length);
    }
    candidate(x, blocks, length, false, words, uniforms, scratch, scratch.six);
    if (d_.search == ScaleSearch::none) return;
    candidate(x, blocks, length, true, words, uniforms, scratch, scratch.four);
    std::array<float, 256> error{};
    for (std::size_t b = 0; b < blocks; ++b) {
      const bool take = d_.order == ScaleOrder::exact
                            ? exactly_better(x, length, b, scratch)
                            : error_of(scratch.four, x, b, length, error) < error_of(scratch.six, x, b, length, error);
      if (!take) continue;
      scratch.six.scales[b] = scratch.four.scales[b];
      std::copy_n(scratch.four.codes.data() + b * length, length, scratch.six.codes.data() + b * length);
      std::copy_n(scratch.four.y.data() + b * length, length, scratch.six.y.data() + b * length);
    }
  }

  /// MS-EDEN's rounding of the scales of whole groups of 128; uniform(b) is block b's number in [0, 1).
  template <class Uniform>
  void round_scales(std::size_t blocks, Candidate& c, const Uniform& uniform) const {
    constexpr std::size_t in_group = eden_group / 16;
    for (std::size_t first = 0; first < blocks; first += in_group) {
      std::array<float, eden_group> square{}, product{};
      for (std::size_t i = 0; i < eden_group; ++i) {
        const float y = c.y[first * 16 + i];
        square[i] = y * y;
        product[i] = y * e2m1_value[c.codes[first * 16 + i]];
      }
      const float squares = add_errors(square.data(), eden_group, ErrorSum::pairwise);
      const float products = add_errors(product.data(), eden_group, ErrorSum::pairwise);
      if (!(std::isfinite(squares) && std::isfinite(products))) too_large();
      const float correction = eden_correction(squares, products);
      for (std::size_t b = first; b < first + in_group; ++b)
        c.scales[b] = eden_round(c.scales[b], correction, uniform(b));
    }
  }

  /// Refuses blocks that the largest scale clips: the correction of their group would be theirs, not that of the rest.
  void check_clipping(const float* x, std::size_t blocks) const {
    constexpr float rounds_to_nan = 464;  // half a step above the largest scale, 448
    for (std::size_t b = 0; b < blocks; ++b) {
      const float amax = finite_amax(x + b * 16, 16);
      if (std::isfinite(amax) && raw_scale(amax, false) > rounds_to_nan) too_large();
    }
  }

 private:
  [[noreturn]] void too_large() const {
    throw Error("amax " + shortest(amax_) + " of the tensor is too small for its numbers in dialect " + text(d_.name) +
                ", which corrects scales by groups of 128; expected their largest magnitude");
  }

  /// Infinity where the block has a number that is not finite.
  static float finite_amax(const float* x, std::size_t n) {
    return std::bit_cast<float>(std::min(kernels().amax_bits(x, n), inf_bits));
  }

  void candidate(const float* x, std::size_t blocks, std::size_t length, bool four, const std::uint32_t* words,
                 const float* uniforms, Scratch& scratch, Candidate& c) const {
    c.resize(blocks, length);
    if (d_.order == ScaleOrder::exact) {
      exact(x, blocks, length, four, words, uniforms, scratch, c);
    } else {
      sequence(x, blocks, length, four, words, uniforms, scratch, c);
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      if (scratch.amax[b] == std::numeric_limits<float>::infinity()) {
        c.scales[b] = 127;
        std::fill_n(c.codes.begin() + static_cast<std::ptrdiff_t>(b * length), length, std::uint8_t{0});
        std::fill_n(c.y.begin() + static_cast<std::ptrdiff_t>(b * length), length, 0.0F);
      }
    }
  }

  /// r of one block.
  float raw_scale(float amax, bool four) const {
    const float wider = d_.element_max / 4;  // 1.5 for 6
    switch (d_.order) {
      case ScaleOrder::reciprocals: {
        const float m = s_enc_ * (1.0F / d_.element_max);
        const float r = std::min(amax * m, flt_max);
        return four ? r * wider : r;
      }
      case ScaleOrder::quotient: {
        const float r = std::min(amax / d_.element_max * s_enc_, flt_max);
        return four ? r * wider : r;
      }
      case ScaleOrder::quotients:
      case ScaleOrder::least_error:
        return amax / d_.element_max * (four ? wider : 1.0F) / g_;
      case ScaleOrder::divisions:
        return amax / d_.element_max * (four ? 1.5F : 1.0F) / g_;
      case ScaleOrder::products:
        return amax / (d_.element_max * g_) * (four ? wider : 1.0F);
      case ScaleOrder::exact:
        break;
    }
    return 0;
  }

  void sequence(const float* x, std::size_t blocks, std::size_t length, bool four, const std::uint32_t* words,
                const float* uniforms, Scratch& scratch, Candidate& c) const {
    const float least = d_.zero_scale == ZeroScale::floor   ? 0x1p-6F
                        : d_.zero_scale == ZeroScale::least ? 0x1p-9F
                                                            : 0.0F;
    const bool zeros_one = d_.zero_scale == ZeroScale::least || d_.zero_scale == ZeroScale::zeros_one;
    for (std::size_t b = 0; b < blocks; ++b) {
      const float r = raw_scale(scratch.amax[b], four);
      scratch.raw[b] = zeros_one && r == 0 ? 1.0F : std::min(std::max(r, least), value_[126]);
    }
    if (d_.scale == ScaleCode::ggml) {
      std::transform(scratch.raw.begin(), scratch.raw.end(), c.scales.begin(), ggml_scale);
    } else {
      encode_span(Format::ue4m3, std::span(scratch.raw), std::span(c.scales));
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      if (d_.zero_scale == ZeroScale::one && c.scales[b] == 0) c.scales[b] = 0x38;
      c.factor[b] = factor(value_[c.scales[b]]);
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      const float f = c.factor[b];
      const float* const from = x + b * length;
      float* const to = c.y.data() + b * length;
      if (d_.order == ScaleOrder::least_error) {
        nearest_values(from, length, f, c.codes.data() + b * length);
        std::copy_n(from, length, to);
      } else if (has_unit(d_.order)) {
        for (std::size_t i = 0; i < length; ++i) to[i] = from[i] / f;
      } else {
        for (std::size_t i = 0; i < length; ++i) to[i] = from[i] * f;
      }
    }
    if (d_.order != ScaleOrder::least_error) round(blocks * length, words, uniforms, c);
    for (std::size_t i = 0; d_.zero_sign != ZeroSign::keep && i < blocks * length; ++i)
      c.codes[i] = with_sign(d_, c.codes[i], c.y[i], 7);
    for (std::size_t b = 0; b < blocks; ++b) {
      if (d_.zero_scale == ZeroScale::zero && c.scales[b] == 0) {
        std::fill_n(c.codes.begin() + static_cast<std::ptrdiff_t>(b * length), length, std::uint8_t{0});
        std::fill_n(c.y.begin() + static_cast<std::ptrdiff_t>(b * length), length, 0.0F);
      }
    }
  }

  float factor(float s) const {
    switch (d_.order) {
      case ScaleOrder::quotients:
        return std::min(1.0F / g_ / s, flt_max);
      case ScaleOrder::least_error:
        return s * g_;
      case ScaleOrder::divisions:
      case ScaleOrder::products:
        return std::max(s * g_, std::numeric_limits<float>::denorm_min());
      default:
        return std::min(1.0F / (s * s_dec_), flt_max);
    }
  }

  /// c.codes from c.y.
  void round(std::size_t n, const std::uint32_t* words, const float* uniforms, Candidate& c) const {
    const bool by_uniforms = d_.rounding == Rounding::stochastic && uniforms != nullptr;
    encode_span(
        Format::e2m1, std::span<const float>(c.y.data(), n), std::span<std::uint8_t>(c.codes.data(), n),
        {.rounding = by_uniforms ? Rounding::toward_zero : d_.rounding, .random_bits = d_.random_bits},
        d_.rounding == Rounding::stochastic && !by_uniforms ? std::span(words, n) : std::span<const std::uint32_t>());
    for (std::size_t i = 0; by_uniforms && i < n; ++i) {
      const std::uint32_t code = c.codes[i] & 7;
      if (code == 7) continue;
      const float low = e2m1_value[code];
      c.codes[i] += uniforms[i] < (std::abs(c.y[i]) - low) / (e2m1_value[code + 1] - low);
    }
  }

  /// The codes of ScaleOrder::least_error, with the signs of x; `n` is a multiple of 16.
  static void nearest_values(const float* x, std::size_t n, float unit, std::uint8_t* codes) {
    constexpr std::size_t lanes = 16;
    for (std::size_t first = 0; first < n; first += lanes) {
      std::array<float, lanes> magnitude{}, least{};
      std::array<std::uint32_t, lanes> best{};
      for (std::size_t i = 0; i < lanes; ++i) magnitude[i] = least[i] = std::abs(x[first + i]);
      for (std::uint32_t code = 1; code < 8; ++code) {
        const float value = e2m1_value[code] * unit;
        for (std::size_t i = 0; i < lanes; ++i) {
          const float error = std::abs(value - magnitude[i]);
          const bool less = error < least[i];
          best[i] = less ? code : best[i];
          least[i] = less ? error : least[i];
        }
      }
      for (std::size_t i = 0; i < lanes; ++i) {
        codes[first + i] = static_cast<std::uint8_t>(best[i] | std::bit_cast<std::uint32_t>(x[first + i]) >> 31 << 3);
      }
    }
  }

  /// The rules of rules.hpp.
  void exact(const float* x, std::size_t blocks, std::size_t length, bool four, const std::uint32_t* words,
             const float* uniforms, const Scratch& scratch, Candidate& c) const {
    const double unit = (four ? 4.0 : double{d_.element_max}) * g_;
    for (std::size_t b = 0; b < blocks; ++b) {
      const float amax = std::min(scratch.amax[b], flt_max);
      std::uint32_t scale = encode(Format::ue4m3, amax / unit);  // 53 bits decide as the exact quotient does
      if (d_.zero_scale == ZeroScale::floor) scale = std::max<std::uint32_t>(scale, 8);
      if (d_.zero_scale == ZeroScale::one && scale == 0) scale = 0x38;
      c.scales[b] = static_cast<std::uint8_t>(scale);
      const double step = double{value_[scale]} * g_;
      std::uint8_t* const codes = c.codes.data() + b * length;
      if (scale == 0) {
        std::fill_n(codes, length, std::uint8_t{0});
        continue;
      }
      for (std::size_t i = 0; i < length; ++i) codes[i] = element(x[b * length + i], step);
      for (std::size_t i = 0; d_.rounding == Rounding::stochastic && i < length; ++i) {
        const std::uint32_t code = codes[i] & 7;
        if (code == 7) continue;
        const double low = e2m1_value[code], width = e2m1_value[code + 1] - low;
        const double above = std::abs(double{x[b * length + i]}) - low * step;
        const std::size_t at = b * length + i;
        const auto range = static_cast<double>(std::uint64_t{1} << d_.random_bits);
        codes[i] += uniforms != nullptr ? uniforms[at] * (width * step) < above
                                        : above * range >= (range - words[at]) * (width * step);
      }
      for (std::size_t i = 0; d_.zero_sign != ZeroSign::keep && i < length; ++i)
        codes[i] = with_sign(d_, codes[i], x[b * length + i], 7);
    }
  }

  std::uint8_t element(float x, double step) const {
    const double magnitude = std::abs(double{x});
    std::uint32_t code = 0;
    for (const Threshold& t : threshold_) {
      code += t.inclusive ? magnitude >= t.value * step : magnitude > t.value * step;
    }
    return static_cast<std::uint8_t>(code | std::bit_cast<std::uint32_t>(x) >> 31 << 3);
  }

  float error_of(const Candidate& c, const float* x, std::size_t b, std::size_t length,
                 std::array<float, 256>& error) const {
    const float s = value_[c.scales[b]], unit = s * g_;
    for (std::size_t i = 0; i < length; ++i) {
      const float q = e2m1_value[c.codes[b * length + i]], v = x[b * length + i];
      float difference = 0;
      if (has_unit(d_.order)) {
        difference = v - q * unit;
      } else if (d_.search_error == SearchError::scaled) {
        difference = q * s - v * s_enc_;
      } else if (d_.order == ScaleOrder::quotients) {
        difference = q * s * g_ - v;
      } else {
        difference = q * s * amax_ / full_ - v;
      }
      error[i] = d_.search == ScaleSearch::mse ? difference * difference : std::abs(difference);
    }
    if (d_.search == ScaleSearch::largest) return *std::max_element(error.begin(), error.begin() + length);
    return block_error(error.data(), length, d_.error_sum);
  }

  /// Whether 4 errs less than 6, by integers. Errors are differences of x and q s g. Where both codes are 0 they are
  /// equal and drop out; elsewhere x is at least s g / 4, s at least 2^-9, so with g = G 2^k, G < 2^24, x and q s g are
  /// multiples of 2^(k - 11). A block far beyond what g can express keeps 6.
  bool exactly_better(const float* x, std::size_t length, std::size_t b, const Scratch& scratch) const {
    const Candidate &six = scratch.six, &four = scratch.four;
    if (six.scales[b] == 127 || scratch.amax[b] > 0x1p16 * g_) return false;
    const int exponent = std::ilogb(g_) - 23;
    const double s6 = double{value_[six.scales[b]]} * g_, s4 = double{value_[four.scales[b]]} * g_;
    const auto units = [&](double v) { return static_cast<__int128>(std::ldexp(std::abs(v), 11 - exponent)); };
    __int128 balance = 0, largest6 = 0, largest4 = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint8_t q6 = six.codes[b * length + i], q4 = four.codes[b * length + i];
      if (((q6 | q4) & 7) == 0) continue;
      const double v = x[b * length + i];
      const __int128 e6 = units(v - e2m1_value[q6] * s6), e4 = units(v - e2m1_value[q4] * s4);
      balance += d_.search == ScaleSearch::mse ? (e4 - e6) * (e4 + e6) : e4 - e6;
      largest6 = std::max(largest6, e6);
      largest4 = std::max(largest4, e4);
    }
    return d_.search == ScaleSearch::largest ? largest4 < largest6 : balance < 0;
  }

  const Dialect& d_;
  float amax_, g_, s_enc_, s_dec_, full_;
  std::array<float, 128> value_{};
  std::array<Threshold, 7> threshold_{};
};

/// Block scale of the MX formats; 255 where a is not finite or the rule leads beyond.
std::uint8_t power_scale(const Dialect& d, float a) {
  const auto bits = std::bit_cast<std::uint32_t>(a);
  if (bits >= inf_bits) return 255;
  const FormatDesc& f = desc(d.element);
  const int largest = static_cast<int>(f.max_code() >> f.man_bits) - f.bias;
  const auto top = static_cast<float>(decode(f, f.max_code()));
  const auto up = [](float r, std::uint32_t subnormal) {
    const auto b = std::bit_cast<std::uint32_t>(r);
    return static_cast<std::uint8_t>((b >> 23) + ((b & 0x7FFFFF) > (b >> 23 ? 0 : subnormal)));
  };
  switch (d.power_rule) {
    case PowerRule::floor:
      return mx_block_scale(f, a);
    case PowerRule::ceil:
      return static_cast<std::uint8_t>(std::max(static_cast<int>(bits >> 23) - largest + ((bits & 0x7FFFFF) != 0), 0));
    case PowerRule::even: {
      const int mantissa = f.exp_bits != 0 ? f.man_bits : f.man_bits - 1;  // below the first bit of the largest value
      const std::uint32_t rounded = bits + (std::uint32_t{1} << (22 - mantissa));
      if (rounded >= inf_bits) return 255;
      return mx_block_scale(f, std::bit_cast<float>(rounded & 0xFF800000));
    }
    case PowerRule::rceil:
      return up(a * (1.0F / top), 0x400000);  // 2^-127 is code 0
    case PowerRule::quotient:
      return up(a / d.element_max, 0);
  }
  return 255;
}

void mx_vector(const Dialect& d, const float* x, std::size_t size, const std::uint32_t* words, std::uint8_t* codes,
               std::uint8_t* scales) {
  const std::size_t block = block_size(d.scheme);
  const RoundOptions options{.rounding = d.rounding, .random_bits = d.random_bits};
  std::array<double, 32> y{};
  for (std::size_t b = 0; b < size / block; ++b) {
    const float* const from = x + b * block;
    scales[b] = power_scale(d, std::bit_cast<float>(std::min(kernels().amax_bits(from, block), inf_bits)));
    const std::span<std::uint8_t> to(codes + b * block, block);
    if (scales[b] == 255 && d.nonfinite == Nonfinite::refuse) {  // what is not finite was refused before
      throw Error("a block has no power-of-two scale below 2^128 in dialect " + text(d.name) +
                  "; expected smaller numbers, or nonfinite nan_scale");
    }
    if (scales[b] == 255 || (d.power_rule == PowerRule::quotient && scales[b] == 0)) {
      std::fill(to.begin(), to.end(), std::uint8_t{0});
      continue;
    }
    const double inverse = std::bit_cast<double>(static_cast<std::uint64_t>(127 - scales[b] + 1023) << 52);
    for (std::size_t i = 0; i < block; ++i) y[i] = from[i] * inverse;
    encode_span(d.element, std::span<const double>(y.data(), block), to, options,
                words ? std::span(words + b * block, block) : std::span<const std::uint32_t>());
    for (std::size_t i = 0; d.zero_sign != ZeroSign::keep && i < block; ++i) {
      to[i] = with_sign(d, to[i], static_cast<float>(y[i]), desc(d.element).payload_mask());
    }
  }
}

/// The matrix as vectors of k_padded elements, padded with zeros.
std::vector<float> laid_out(std::span<const float> x, std::size_t rows, std::size_t cols, Axis along,
                            std::size_t k_padded, unsigned threads) {
  const std::size_t vectors = along == Axis::rows ? rows : cols, k = along == Axis::rows ? cols : rows;
  std::vector<float> out(vectors * k_padded);
  constexpr std::size_t group = 32;
  detail::parallel_for((vectors + group - 1) / group, threads, [&](std::size_t job) {
    const std::size_t first = job * group, last = std::min(first + group, vectors);
    if (along == Axis::rows) {
      for (std::size_t v = first; v < last; ++v) std::copy_n(x.data() + v * cols, k, out.data() + v * k_padded);
    } else {
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t v = first; v < last; ++v) out[v * k_padded + i] = x[i * cols + v];
      }
    }
  });
  return out;
}

[[noreturn]] void refuse(const Dialect& d, const std::string& what) {
  throw Error("the dialect " + text(d.name) + " " + what);
}

template <class Enum, std::size_t N>
using Names = std::array<std::pair<std::string_view, Enum>, N>;

constexpr Names<ScaleOrder, 7> order_names{{{"exact", ScaleOrder::exact},
                                            {"reciprocals", ScaleOrder::reciprocals},
                                            {"quotient", ScaleOrder::quotient},
                                            {"quotients", ScaleOrder::quotients},
                                            {"divisions", ScaleOrder::divisions},
                                            {"products", ScaleOrder::products},
                                            {"least_error", ScaleOrder::least_error}}};
constexpr Names<ScaleCode, 2> scale_names{{{"exact", ScaleCode::exact}, {"ggml", ScaleCode::ggml}}};
constexpr Names<BlockShape, 2> shape_names{{{"row", BlockShape::row}, {"16x16", BlockShape::tile_16x16}}};
constexpr Names<PowerRule, 5> power_names{{{"floor", PowerRule::floor},
                                           {"ceil", PowerRule::ceil},
                                           {"rceil", PowerRule::rceil},
                                           {"even", PowerRule::even},
                                           {"quotient", PowerRule::quotient}}};
constexpr Names<ScaleSearch, 4> search_names{{{"none", ScaleSearch::none},
                                              {"mae", ScaleSearch::mae},
                                              {"mse", ScaleSearch::mse},
                                              {"largest", ScaleSearch::largest}}};
constexpr Names<SearchError, 2> error_names{{{"input", SearchError::input}, {"scaled", SearchError::scaled}}};
constexpr Names<ErrorSum, 3> sum_names{
    {{"sequential", ErrorSum::sequential}, {"pairwise", ErrorSum::pairwise}, {"lanes", ErrorSum::lanes}}};
constexpr Names<ZeroScale, 6> zero_scale_names{{{"codes", ZeroScale::codes},
                                                {"zero", ZeroScale::zero},
                                                {"floor", ZeroScale::floor},
                                                {"one", ZeroScale::one},
                                                {"least", ZeroScale::least},
                                                {"zeros_one", ZeroScale::zeros_one}}};
constexpr Names<ZeroSign, 4> zero_sign_names{
    {{"keep", ZeroSign::keep}, {"drop", ZeroSign::drop}, {"minus", ZeroSign::minus}, {"plus", ZeroSign::plus}}};
constexpr Names<Rounding, 4> rounding_names{{{"nearest_even", Rounding::nearest_even},
                                             {"nearest_away", Rounding::nearest_away},
                                             {"stochastic", Rounding::stochastic},
                                             {"toward_zero", Rounding::toward_zero}}};
constexpr Names<RoundingPoint, 2> point_names{{{"element", RoundingPoint::element}, {"scale", RoundingPoint::scale}}};
constexpr Names<FrontStage, 4> front_names{{{"none", FrontStage::none},
                                            {"mean", FrontStage::mean},
                                            {"rht16", FrontStage::rht16},
                                            {"rht128", FrontStage::rht128}}};
constexpr Names<Nonfinite, 2> nonfinite_names{{{"refuse", Nonfinite::refuse}, {"nan_scale", Nonfinite::nan_scale}}};

/// Calls f(name, member, table or expected text) for every field, in the order of the page.
template <class D, class F>
void each_field(D& d, const F& f) {
  f("element", d.element);
  f("order", d.order, order_names);
  f("shape", d.shape, shape_names);
  f("bound", d.bound);
  f("element_max", d.element_max);
  f("scale", d.scale, scale_names);
  f("power_rule", d.power_rule, power_names);
  f("search", d.search, search_names);
  f("search_error", d.search_error, error_names);
  f("error_sum", d.error_sum, sum_names);
  f("zero_scale", d.zero_scale, zero_scale_names);
  f("zero_sign", d.zero_sign, zero_sign_names);
  f("rounding", d.rounding, rounding_names);
  f("point", d.point, point_names);
  f("random_bits", d.random_bits);
  f("front", d.front, front_names);
  f("constant_amax", d.constant_amax);
  f("nonfinite", d.nonfinite, nonfinite_names);
}

std::string stage_name(FrontStage stage) {
  for (const auto& [name, same] : front_names) {
    if (same == stage) return text(name);
  }
  return "?";
}

template <class Enum, std::size_t N>
std::string expected_of(const Names<Enum, N>& names) {
  std::string all;
  for (const auto& [name, value] : names) all += (all.empty() ? "" : ", ") + text(name);
  return all;
}

struct FieldLister {
  std::vector<DialectField>& out;
  template <class Enum, std::size_t N>
  void operator()(std::string_view name, Enum value, const Names<Enum, N>& names) const {
    for (const auto& [known, same] : names) {
      if (same == value) out.push_back({name, text(known), expected_of(names)});
    }
  }
  void operator()(std::string_view name, Format value) const {
    out.push_back({name, text(desc(value).name), "e2m1; MX dialects also e4m3, e5m2"});
  }
  void operator()(std::string_view name, float value) const { out.push_back({name, shortest(value), "a number"}); }
  void operator()(std::string_view name, int value) const { out.push_back({name, std::to_string(value), "1 to 24"}); }
  void operator()(std::string_view name, const std::optional<float>& value) const {
    out.push_back({name, value ? shortest(*value) : "none", "a positive number, or none"});
  }
};

struct FieldSetter {
  std::string_view field, value;
  bool& found;

  [[noreturn]] void wrong(const std::string& expected) const {
    throw Error("the dialect's field " + text(field) + " is '" + text(value) + "'; expected " + expected);
  }
  template <class Number>
  Number number(const std::string& expected) const {
    Number result{};
    const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (fault != std::errc() || end != value.data() + value.size()) wrong(expected);
    return result;
  }
  template <class Enum, std::size_t N>
  void operator()(std::string_view name, Enum& member, const Names<Enum, N>& names) const {
    if (name != field) return;
    found = true;
    for (const auto& [known, same] : names) {
      if (known == value) {
        member = same;
        return;
      }
    }
    wrong("one of " + expected_of(names));
  }
  void operator()(std::string_view name, Format& member) const {
    if (name != field) return;
    found = true;
    member = find_format(value);
  }
  void operator()(std::string_view name, float& member) const {
    if (name != field) return;
    found = true;
    member = number<float>("a number");
  }
  void operator()(std::string_view name, int& member) const {
    if (name != field) return;
    found = true;
    member = number<int>("1 to 24");
  }
  void operator()(std::string_view name, std::optional<float>& member) const {
    if (name != field) return;
    found = true;
    if (value == "none") {
      member.reset();
    } else {
      member = number<float>("a positive number, or none");
    }
  }
};

}  // namespace

std::vector<DialectField> fields(const Dialect& d) {
  std::vector<DialectField> out;
  each_field(d, FieldLister{out});
  return out;
}

Dialect parse_dialect(std::string_view all) {
  const std::size_t colon = all.find(':');
  Dialect d = find_dialect(all.substr(0, colon));
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : all.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw Error("the dialect '" + text(all) + "' has '" + text(item) + "'; expected field=value");
    }
    bool found = false;
    each_field(d, FieldSetter{item.substr(0, equals), item.substr(equals + 1), found});
    if (!found) {
      std::string known;
      for (const DialectField& f : fields(d)) known += (known.empty() ? "" : ", ") + text(f.name);
      throw Error("a dialect has no field '" + text(item.substr(0, equals)) + "'; expected one of " + known);
    }
  }
  if (is_mx(d.scheme)) d.scheme = mx_scheme(d.element);
  check(d);
  return d;
}

const Dialect& find_dialect(std::string_view name) {
  std::string known;
  for (const Dialect& d : dialects) {
    if (d.name == name) return d;
    known += (known.empty() ? "" : ", ") + text(d.name);
  }
  throw Error("unknown dialect '" + text(name) + "'; expected one of " + known);
}

void check(const Dialect& d) {
  const bool mx = is_mx(d.scheme);
  if (d.scheme == Scheme::fp8) refuse(d, "has scheme fp8; expected nvfp4 or a scheme of MX");
  if (!has_element(d.scheme, d.element)) {
    refuse(d, "has elements " + text(desc(d.element).name) + "; expected " + elements_text(d.scheme));
  }
  if (desc(d.element).complement && d.zero_sign != ZeroSign::keep) {
    refuse(d, "has integers, whose zero has no sign; expected zero_sign keep");
  }
  if (d.random_bits < 1 || d.random_bits > 24) {
    refuse(d, "has " + std::to_string(d.random_bits) + " random bits; expected 1 to 24");
  }
  if (!(d.bound >= 1 && d.bound <= 448)) refuse(d, "has bound " + std::to_string(d.bound) + "; expected 1 to 448");
  if (!(d.element_max >= 2 && d.element_max <= 6)) {  // below 2 a scale times the tensor's may be beyond FP32
    refuse(d, "has element_max " + shortest(d.element_max) + "; expected 2 to 6");
  }
  if (d.constant_amax && !(std::isfinite(*d.constant_amax) && *d.constant_amax > 0)) {
    refuse(d, "has constant_amax " + std::to_string(*d.constant_amax) + "; expected a positive finite number");
  }
  if (mx && (d.order != ScaleOrder::exact || d.shape != BlockShape::row || d.search != ScaleSearch::none ||
             d.point != RoundingPoint::element || d.constant_amax)) {
    refuse(
        d,
        "has power-of-two scales with fields of NVFP4; expected order exact, shape row, no search, point element, no "
        "constant_amax");
  }
  if (d.order == ScaleOrder::exact && !mx && d.element_max != 6 && d.element_max != 4) {
    refuse(d, "is of order exact with element_max " + std::to_string(d.element_max) + "; expected 6 or 4");
  }
  if (d.order == ScaleOrder::exact && !mx && d.zero_scale != ZeroScale::zero && d.zero_scale != ZeroScale::floor &&
      d.zero_scale != ZeroScale::one) {
    refuse(d,
           "is of order exact, which has no codes of its own under scale 0 and no quotient that is 0; expected "
           "zero_scale zero, floor or one");
  }
  if (d.order == ScaleOrder::exact && d.scale != ScaleCode::exact) {
    refuse(d, "is of order exact with scale ggml, which rounds an FP32 number; expected scale exact, or another order");
  }
  if (d.order == ScaleOrder::least_error && d.rounding != Rounding::nearest_even) {
    refuse(d, "is of order least_error, which looks at no rounding; expected rounding nearest_even");
  }
  if (d.search != ScaleSearch::none && d.search_error == SearchError::scaled && d.order != ScaleOrder::quotient &&
      d.order != ScaleOrder::reciprocals) {
    refuse(d, "compares scaled errors; expected order reciprocals or quotient");
  }
  if (d.order == ScaleOrder::exact && d.search != ScaleSearch::none && d.rounding == Rounding::stochastic) {
    refuse(d, "searches scales with stochastic elements in order exact; expected elements to nearest");
  }
  if (d.point == RoundingPoint::scale) {
    if (d.shape != BlockShape::row || d.order == ScaleOrder::exact || d.order == ScaleOrder::least_error ||
        d.rounding == Rounding::stochastic) {
      refuse(d,
             "rounds scales stochastically; expected shape row, another order than exact and least_error, elements to "
             "nearest");
    }
    if (d.zero_scale != ZeroScale::zero && d.zero_scale != ZeroScale::one) {  // such blocks would rule their group
      refuse(d,
             "corrects the scales of a group by what its codes stand for, which those of a block below the smallest "
             "scale do not; expected zero_scale zero or one");
    }
  }
  if (mx && (d.bound != 448 || d.zero_scale != ZeroScale::zero || d.search_error != SearchError::input ||
             d.error_sum != ErrorSum::sequential)) {
    refuse(
        d,
        "has power-of-two scales, which no field of NVFP4 changes; expected bound 448, zero_scale zero, search_error "
        "input, error_sum sequential");
  }
  if (mx && d.element_max != 6 && d.power_rule != PowerRule::quotient) {
    refuse(d, "has element_max " + shortest(d.element_max) + ", which power_rule quotient alone looks at; expected 6");
  }
  if (!mx && d.power_rule != PowerRule::floor) {
    refuse(d, "has no power-of-two scales for a power_rule; expected floor, or a dialect of MX");
  }
  if (d.search != ScaleSearch::none && d.element_max <= 4) {
    refuse(d, "searches between element_max " + shortest(d.element_max) + " and 4; expected element_max above 4");
  }
}

float encode_scale(const Dialect& d, float amax) {
  const float scale = std::min(full_scale(d) / amax, flt_max);
  return amax == 0 || scale == 0 ? 1.0F : scale;
}

float tensor_scale(const Dialect& d, float amax) {
  if (is_mx(d.scheme) || amax == 0) return 1.0F;
  switch (d.order) {
    case ScaleOrder::exact:
      return amax_scale(amax, full_scale(d));
    case ScaleOrder::divisions: {
      const float p = amax / d.bound / d.element_max;
      return p == 0 ? 1.0F : p;
    }
    case ScaleOrder::quotients:
    case ScaleOrder::products:
    case ScaleOrder::least_error: {
      const float p = amax / full_scale(d);
      return p == 0 ? 1.0F : p;
    }
    default:
      return amax / full_scale(d);
  }
}

float block_factor(const Dialect& d, float block_scale, float amax) {
  switch (d.order) {
    case ScaleOrder::quotients:
      return std::min(1.0F / tensor_scale(d, amax) / block_scale, flt_max);
    case ScaleOrder::least_error:
      return block_scale * tensor_scale(d, amax);
    case ScaleOrder::divisions:
    case ScaleOrder::products:
    case ScaleOrder::exact:
      return std::max(block_scale * tensor_scale(d, amax), std::numeric_limits<float>::denorm_min());
    default:
      return std::min(1.0F / (block_scale * (1.0F / encode_scale(d, amax))), flt_max);
  }
}

namespace {

/// rht16 or rht128 of whole groups, in place.
void transform(float* x, std::size_t size, FrontStage stage) {
  const bool sixteen = stage == FrontStage::rht16;
  const std::size_t group = sixteen ? 16 : 128, batch = sixteen ? 256 : 128;
  const auto kernel = sixteen ? detail::block_kernels().hadamard_16 : detail::block_kernels().hadamard_128;
  std::array<float, 128> in{};
  detail::Pace pace;
  for (std::size_t start = 0; start < size; start += batch) {
    const std::size_t here = std::min(batch, size - start);
    pace(here);
    if (kernel(x + start, here / group, x + start)) continue;
    for (std::size_t first = start; first < start + here; first += group) {
      for (std::size_t r = 0; r < group; ++r) {
        const float element = x[first + r];
        in[r] = sixteen && (rht16_signs >> r & 1) ? -element : element;
      }
      detail::hadamard(std::span<const float>(in.data(), group), sixteen ? 1 : 181, sixteen ? -2 : -11, x + first);
    }
  }
}

}  // namespace

FrontResult front_stage(std::span<const float> x, std::size_t vectors, std::size_t k, FrontStage stage,
                        unsigned threads) {
  if (vectors == 0 || k == 0 || !detail::is_product(x.size(), vectors, k)) {
    throw Error("a front stage was given " + std::to_string(vectors) + " vectors of " + std::to_string(k) + " with " +
                std::to_string(x.size()) + " values; expected vectors * k of them, at least one");
  }
  detail::find_amax(x, k, threads);  // refuses what is not finite
  const std::size_t group = stage == FrontStage::rht16 ? 16 : stage == FrontStage::rht128 ? 128 : 1;
  FrontResult out;
  out.k = (k + group - 1) / group * group;
  out.x = laid_out(x, vectors, k, Axis::rows, out.k, threads);
  if (stage == FrontStage::mean) {
    out.mean.resize(k);
    detail::parallel_for(k, threads, [&](std::size_t i) {
      detail::ExactSum sum;
      detail::Pace pace;
      for (std::size_t v = 0; v < vectors; ++v) {
        pace();
        sum.add(x[v * k + i]);
      }
      const auto rounded = static_cast<float>(sum.rounded_to_odd());
      out.mean[i] = detail::rounded_to_bf16(rounded / static_cast<float>(vectors));
    });
    detail::parallel_for(vectors, threads, [&](std::size_t v) {
      detail::Pace pace;
      for (std::size_t i = 0; i < k; ++i) {
        pace();
        out.x[v * out.k + i] = detail::rounded_to_bf16(x[v * k + i] - out.mean[i]);
      }
    });
  } else if (group > 1) {
    detail::parallel_for(vectors, threads, [&](std::size_t v) { transform(out.x.data() + v * out.k, out.k, stage); });
  }
  if (detail::kernels().amax_bits(out.x.data(), out.x.size()) < 0x7F800000) return out;
  for (std::size_t i = 0; i < out.x.size(); ++i) {
    if (std::isfinite(out.x[i])) continue;
    throw Error("front stage " + stage_name(stage) + " overflows BF16 at vector " + std::to_string(i / out.k) +
                ", element " + std::to_string(i % out.k) + "; expected smaller numbers");
  }
  return out;
}

namespace {

/// Whether quantize() of quantize.hpp does the same, faster.
bool is_plain(const Dialect& d, const DialectInputs& inputs) {
  const bool nvfp4 = d.scheme == Scheme::nvfp4 && d.bound == 448 && d.element_max == 6 && !d.constant_amax &&
                     d.zero_scale == ZeroScale::zero;
  return d.order == ScaleOrder::exact && d.shape == BlockShape::row && d.search == ScaleSearch::none &&
         d.zero_sign == ZeroSign::keep && d.front == FrontStage::none && d.nonfinite == Nonfinite::refuse &&
         (nvfp4 || (is_mx(d.scheme) && d.power_rule == PowerRule::floor)) && !inputs.amax && inputs.random.empty() &&
         inputs.uniforms.empty();
}

}  // namespace

QuantizedMatrix quantize(std::span<const float> x, std::size_t rows, std::size_t cols, Axis along, const Dialect& d,
                         const DialectInputs& inputs) {
  check(d);
  if (rows == 0 || cols == 0 || x.size() / rows != cols || x.size() % rows != 0) {
    throw Error("the matrix is said to be " + std::to_string(rows) + " x " + std::to_string(cols) + " and has " +
                std::to_string(x.size()) + " values; expected at least one row and column, and rows * columns values");
  }
  if (is_plain(d, inputs)) {
    return quantize(x, rows, cols, along,
                    {.scheme = d.scheme,
                     .element = d.element,
                     .rounding = d.rounding,
                     .random_bits = d.random_bits,
                     .seed = inputs.seed,
                     .tensor_scale = inputs.tensor_scale,
                     .threads = inputs.threads});
  }
  const bool mx = is_mx(d.scheme), by_scale = d.point == RoundingPoint::scale;
  const bool stochastic = d.rounding == Rounding::stochastic;
  const std::size_t block = block_size(d.scheme), vectors = along == Axis::rows ? rows : cols;
  std::size_t k = along == Axis::rows ? cols : rows;
  const auto positive = [&](std::optional<float> value, const char* name) {
    if (!value) return;
    if (!(std::isfinite(*value) && *value > 0)) {
      throw Error(std::string(name) + " is " + std::to_string(*value) + "; expected a positive finite number");
    }
    if (mx) refuse(d, std::string("has no scale of the tensor, but ") + name + " was given: drop it");
    if (d.constant_amax) refuse(d, std::string("has a constant maximum, but ") + name + " was given: drop it");
  };
  positive(inputs.amax, "amax");
  positive(inputs.tensor_scale, "tensor_scale");
  if (inputs.amax && inputs.tensor_scale) throw Error("amax and tensor_scale were given: drop one of the two");
  if ((!inputs.random.empty() || !inputs.uniforms.empty()) && !stochastic && !by_scale) {
    refuse(d, "rounds to nearest, but random numbers were given: drop them, or take rounding stochastic");
  }
  if (!inputs.random.empty() && !inputs.uniforms.empty()) {
    throw Error("random words and uniform numbers were given: drop one of the two");
  }
  if (mx && !inputs.uniforms.empty()) refuse(d, "takes random words, but uniform numbers were given");

  if (d.nonfinite == Nonfinite::refuse || d.front != FrontStage::none) detail::find_amax(x, cols, inputs.threads);
  QuantizedMatrix q;
  q.scheme = d.scheme;
  q.element = d.element;
  q.rows = vectors;
  std::vector<float> work;
  if (d.front != FrontStage::none) {
    FrontResult front =
        front_stage(laid_out(x, rows, cols, along, k, inputs.threads), vectors, k, d.front, inputs.threads);
    k = front.k;
    work = std::move(front.x);
    q.k_padded = (k + block - 1) / block * block;
    if (q.k_padded != k) work = laid_out(work, vectors, k, Axis::rows, q.k_padded, inputs.threads);
  } else {
    q.k_padded = (k + block - 1) / block * block;
    work = laid_out(x, rows, cols, along, q.k_padded, inputs.threads);
  }
  q.k = k;
  q.codes.resize(vectors * q.k_padded);
  q.scales.resize(vectors * q.blocks());

  float amax = d.constant_amax.value_or(inputs.amax.value_or(0.0F));
  if (!mx && !d.constant_amax && !inputs.amax) amax = detail::largest_finite(work, inputs.threads);
  if (inputs.tensor_scale) {
    amax = *inputs.tensor_scale * full_scale(d);
    if (!std::isfinite(amax)) {
      if (d.order == ScaleOrder::reciprocals || d.order == ScaleOrder::quotient) {  // these orders divide by amax
        throw Error("tensor_scale " + shortest(*inputs.tensor_scale) + " is too large for dialect " + text(d.name) +
                    "; expected at most " + shortest(flt_max / full_scale(d)));
      }
      amax = flt_max;
    }
  }
  q.tensor_scale = inputs.tensor_scale ? *inputs.tensor_scale : tensor_scale(d, amax);

  const std::size_t wanted = by_scale ? vectors * q.blocks() : vectors * k;
  for (const std::size_t given : {inputs.random.size(), inputs.uniforms.size()}) {
    if (given == 0 || given == wanted) continue;
    throw Error("there are " + std::to_string(given) + " random numbers; expected " + std::to_string(wanted) +
                (by_scale ? ", one for each block" : ", one for each element"));
  }
  for (const std::uint32_t word : inputs.random) {
    if (word >> d.random_bits != 0) {
      throw Error("a random word is " + std::to_string(word) + "; expected 0 to 2^" + std::to_string(d.random_bits) +
                  " - 1");
    }
  }
  for (const float u : inputs.uniforms) {
    if (!(u >= 0 && u < 1)) throw Error("a uniform number is " + std::to_string(u) + "; expected 0 to below 1");
  }

  const Randomness randomness(d, inputs);
  const Nvfp4Quantizer nvfp4(d, amax, q.tensor_scale);
  const bool tile = d.shape == BlockShape::tile_16x16;
  const std::size_t high = tile ? 16 : 1;
  if (by_scale) {  // groups of 128 of the matrix as it is stored, the last one padded with zeros
    constexpr std::size_t chunk = 16 * eden_group;
    const bool given = inputs.amax || inputs.tensor_scale || d.constant_amax;
    const auto range = static_cast<float>(std::uint32_t{1} << d.random_bits);
    detail::parallel_for((work.size() + chunk - 1) / chunk, inputs.threads, [&](std::size_t job) {
      Scratch scratch;
      const std::size_t first = job * chunk, count = std::min(chunk, work.size() - first), first_block = first / 16;
      scratch.tile.assign((count + eden_group - 1) / eden_group * eden_group, 0.0F);
      std::copy_n(work.data() + first, count, scratch.tile.data());
      nvfp4(scratch.tile.data(), scratch.tile.size() / 16, 16, nullptr, nullptr, scratch);
      scratch.random.resize(count / 16);
      if (!randomness.has_uniforms()) randomness.words(first_block, first_block, count / 16, scratch.random);
      if (given) nvfp4.check_clipping(scratch.tile.data(), count / 16);
      nvfp4.round_scales(scratch.tile.size() / 16, scratch.six, [&](std::size_t b) {
        if (b >= count / 16) return 0.0F;  // the padding behind the matrix
        return randomness.has_uniforms() ? randomness.uniform(first_block + b)
                                         : static_cast<float>(scratch.random[b]) / range;
      });
      std::copy_n(scratch.six.codes.data(), count, q.codes.data() + first);
      std::copy_n(scratch.six.scales.data(), count / 16, q.scales.data() + first_block);
    });
    return q;
  }
  detail::parallel_for((vectors + high - 1) / high, inputs.threads, [&](std::size_t job) {
    Scratch scratch;
    const std::size_t first = job * high, count = std::min(high, vectors - first), size = q.k_padded;
    std::vector<float> uniforms;
    const std::uint32_t* words = nullptr;
    if (stochastic && randomness.has_uniforms()) {
      uniforms.resize(high * size);
      for (std::size_t v = 0; v < count; ++v) {
        for (std::size_t i = 0; i < k; ++i) uniforms[v * size + i] = randomness.uniform((first + v) * k + i);
      }
    } else if (stochastic) {
      scratch.random.resize(high * size);
      for (std::size_t v = 0; v < count; ++v) {
        randomness.words((first + v) * size, (first + v) * k, k, std::span(scratch.random).subspan(v * size, size));
      }
      words = scratch.random.data();
    }
    std::uint8_t* const codes = q.codes.data() + first * size;
    std::uint8_t* const scales = q.scales.data() + first * q.blocks();
    const float* from = work.data() + first * size;
    if (mx) return mx_vector(d, from, size, words, codes, scales);
    if (!tile) {
      nvfp4(from, size / 16, 16, words, uniforms.empty() ? nullptr : uniforms.data(), scratch);
      std::copy(scratch.six.codes.begin(), scratch.six.codes.end(), codes);
      std::copy(scratch.six.scales.begin(), scratch.six.scales.end(), scales);
      return;
    }
    // A row of tiles: gathered tile by tile, rows beyond the matrix being zeros.
    const auto gather = [&](const auto* source, auto& into) {
      into.assign(16 * size, {});
      for (std::size_t v = 0; v < count; ++v) {
        for (std::size_t i = 0; i < size; ++i) into[i / 16 * 256 + v * 16 + i % 16] = source[v * size + i];
      }
    };
    gather(from, scratch.tile);
    std::vector<std::uint32_t> tile_words;
    std::vector<float> tile_uniforms;
    if (words) gather(words, tile_words);
    if (!uniforms.empty()) gather(uniforms.data(), tile_uniforms);
    nvfp4(scratch.tile.data(), size / 16, 256, words ? tile_words.data() : nullptr,
          uniforms.empty() ? nullptr : tile_uniforms.data(), scratch);
    for (std::size_t v = 0; v < count; ++v) {
      for (std::size_t i = 0; i < size; ++i) codes[v * size + i] = scratch.six.codes[i / 16 * 256 + v * 16 + i % 16];
      std::copy(scratch.six.scales.begin(), scratch.six.scales.end(), scales + v * q.blocks());
    }
  });
  return q;
}

}  // namespace narrowgauge
