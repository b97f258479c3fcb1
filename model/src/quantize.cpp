// SPDX-License-Identifier: Apache-2.0
// The rules of rules.hpp, fast. E2M1: a block has one of a few scales, so the scaled thresholds are tabulated once per
// tensor, as the bit patterns of the first float that passes them (magnitudes compare as integers); quantizing is
// comparing and counting. Others: x / scale is rounded to double first. That rounding cannot change the code: a
// threshold t has at most 6 significant bits, the scale g and x have 24, so if x / g != t then |x - t g| is at least
// one unit of the last place of a 30-bit product or of x, |x / g - t| > 2^-31 t, far beyond double's 2^-53; and if x /
// g = t the quotient is exact. The same holds for values themselves in place of thresholds, hence for rounding toward
// zero. MX divides by powers of two.
#include "narrowgauge/quant/quantize.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "convert.hpp"
#include "kernels.hpp"
#include "luq_grid.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/convert.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/luq/luq.hpp"
#include "narrowgauge/luq/mul_luq.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/dequantize.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/quant/rules.hpp"
#include "quantize_parts.hpp"
#include "sizes.hpp"

namespace narrowgauge {
namespace {

using detail::Fp4Row, detail::kernels;

constexpr std::uint32_t inf_bits = 0x7F800000;

/// Bits of the smallest float >= t.value * unit (> if not inclusive); infinity's if there is none.
std::uint32_t first_float(Threshold t, double unit) {
  const double bound = t.value * unit;
  if (bound > std::numeric_limits<float>::max()) return inf_bits;
  const auto nearest = static_cast<float>(bound);
  const bool passes = nearest > bound || (nearest == bound && t.inclusive);
  return std::bit_cast<std::uint32_t>(nearest) + !passes;
}

Fp4Row fp4_row(double unit, Rounding rounding) {
  Fp4Row row{.first = {}, .sign_mask = 8};
  for (std::uint32_t code = 1; code < 8; ++code) {
    row.first[code - 1] = first_float(rounding_threshold(desc(Format::e2m1), code, rounding), unit);
  }
  return row;
}

/// What the quantizers of one vector need besides it.
struct Scratch {
  std::vector<float> padded;
  std::vector<double> quotients;
  std::vector<std::uint32_t> random;
};

/// Quantizes vectors, with everything tabulated that is common to a tensor.
class VectorQuantizer {
 public:
  VectorQuantizer(const QuantizeOptions& options, float scale)
      : options_(options), element_(desc(options.element)), stochastic_(options.rounding == Rounding::stochastic) {
    if (stochastic_) {
      for (std::uint32_t code = 0; code <= element_.max_code(); ++code) {
        value_[code] = decode(element_, code);
        step_[code] = code < element_.max_code() ? decode(element_, code + 1) - value_[code]
                                                 : std::numeric_limits<double>::infinity();
      }
    }
    if (options.element != Format::e2m1) {
      encoding_ = detail::make_encoding(element_, {});
    } else {
      const FormatDesc& format = desc(options.scheme == Scheme::nvfp4 ? Format::ue4m3 : Format::e8m0);
      rows_.resize(format.max_code() + 1);
      for (std::uint32_t code = 0; code <= format.max_code(); ++code) {
        units_[code] = decode(format, code) * scale;
        rows_[code] = fp4_row(units_[code], options.rounding);
      }
      if (options.scheme == Scheme::nvfp4) {
        rows_[0] = {.first = {inf_bits, inf_bits, inf_bits, inf_bits, inf_bits, inf_bits, inf_bits}, .sign_mask = 0};
        scale_first_.fill(inf_bits);
        scale_first_[0] = 0;
        for (std::uint32_t code = 1; code <= format.max_code(); ++code) {
          scale_first_[code] = first_float(rounding_threshold(format, code, Rounding::nearest_even), 6.0 * scale);
        }
      }
    }
  }

  /// x has `size` elements, a whole number of blocks; it is vector number `vector` of `q`, which has its FP32 scales.
  void operator()(const float* x, std::size_t size, std::size_t vector, const QuantizedMatrix& q, std::uint8_t* codes,
                  std::uint8_t* scales, Scratch& scratch) const {
    if (stochastic_) {
      scratch.random.resize(size);
      random_fields(options_.seed, std::uint64_t{vector} * size, options_.random_bits, scratch.random);
    }
    if (options_.scheme == Scheme::fp8) {
      const std::size_t part = is_blocked(q.scaling) ? fp32_block : size;
      for (std::size_t i = 0; i < size; i += part) {
        divided(x + i, q.fp32_scale(vector, i), i, std::min(part, size - i), codes + i, scratch);
      }
    } else if (options_.element != Format::e2m1) {
      constexpr std::size_t block = block_size(Scheme::mxfp8);
      for (std::size_t i = 0; i < size; i += block) {
        const std::uint8_t scale = mx_block_scale(element_, std::bit_cast<float>(kernels().amax_bits(x + i, block)));
        divided(x + i, decode(Format::e8m0, scale), i, block, codes + i, scratch);
        scales[i / block] = scale;
      }
    } else {
      const std::size_t block = block_size(options_.scheme), blocks = size / block;
      if (options_.wide_blocks) {
        for (std::size_t i = 0; i < size; i += 2 * block)
          wide_block(x + i, std::min(2 * block, size - i), codes + i, scales + i / block);
      } else if (options_.scheme == Scheme::nvfp4) {
        kernels().nvfp4_quantize(x, blocks, scale_first_.data(), rows_.data(), codes, scales);
      } else {
        kernels().mxfp4_quantize(x, blocks, rows_.data(), codes, scales);
      }
      for (std::size_t i = 0; stochastic_ && i < blocks; ++i) {
        if (options_.scheme == Scheme::nvfp4 && scales[i] == 0) continue;
        round_up(x + i * block, units_[scales[i]], i * block, block, codes + i * block, scratch);
      }
    }
  }

 private:
  /// One or two blocks of nvfp4 under the scale of all of them.
  void wide_block(const float* x, std::size_t size, std::uint8_t* codes, std::uint8_t* scales) const {
    constexpr std::size_t block = block_size(Scheme::nvfp4);
    const auto past = std::ranges::upper_bound(scale_first_, kernels().amax_bits(x, size));
    const auto scale = static_cast<std::uint8_t>(past - scale_first_.begin() - 1);
    std::fill_n(scales, size / block, scale);
    const Fp4Row& row = rows_[scale];
    for (std::size_t i = 0; i < size; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(x[i]);
      const auto reached = std::ranges::count_if(row.first, [&](std::uint32_t t) { return t <= (bits & 0x7FFFFFFF); });
      codes[i] = static_cast<std::uint8_t>((bits >> 28 & row.sign_mask) | static_cast<std::uint32_t>(reached));
    }
  }

  /// Codes of x / unit; x begins with element `first` of the vector.
  void divided(const float* x, double unit, std::size_t first, std::size_t size, std::uint8_t* codes,
               Scratch& scratch) const {
    scratch.quotients.resize(size);
    kernels().divide(x, unit, size, scratch.quotients.data());
    const Rounding rounding = stochastic_ ? Rounding::toward_zero : options_.rounding;
    kernels().encode_double8(encoding_, rounding, scratch.quotients.data(), nullptr, size, codes);
    if (stochastic_) round_up(x, unit, first, size, codes, scratch);
    detail::recode(element_, std::span<const double>(scratch.quotients), std::span(codes, size));
  }

  void round_up(const float* x, double unit, std::size_t first, std::size_t size, std::uint8_t* codes,
                Scratch& scratch) const {
    kernels().round_up(x, unit, value_.data(), step_.data(), element_.payload_mask(), scratch.random.data() + first,
                       static_cast<double>(std::uint64_t{1} << options_.random_bits), size, codes);
  }

  QuantizeOptions options_;
  const FormatDesc& element_;
  bool stochastic_;
  detail::Encoding encoding_{};
  std::array<double, 128> value_{}, step_{};
  std::array<double, 256> units_{};
  std::array<std::uint32_t, 128> scale_first_{};
  std::vector<Fp4Row> rows_;
};

/// Of LUQ's product.
bool is_luq(Scheme scheme) { return product_scheme(scheme) == Scheme::luq; }

void check_element(Scheme scheme, Format element, const std::string& whose) {
  if (has_element(scheme, element)) return;
  throw Error("the element format of " + whose + " is " + std::string(desc(element).name) + ", which scheme " +
              std::string(desc(scheme).name) + " does not have; expected " + elements_text(scheme));
}

void check(const QuantizeOptions& options) {
  check_element(options.scheme, options.element, "the quantizer");
  if (options.rule == ScaleRule::vendor && options.scheme != Scheme::nvfp4) {
    throw Error("the vendor rule was asked for with scheme " + std::string(desc(options.scheme).name) +
                ": it exists for nvfp4 only; use the exact rule");
  }
  if (options.wide_blocks && (options.scheme != Scheme::nvfp4 || options.rule == ScaleRule::vendor)) {
    throw Error("scales of 32 elements were asked for with scheme " + std::string(desc(options.scheme).name) +
                (options.rule == ScaleRule::vendor ? " by the vendor rule" : "") +
                ": they are nvfp4's by the exact rule");
  }
  if (options.rounding == Rounding::stochastic && (options.random_bits < 1 || options.random_bits > 24)) {
    throw Error("stochastic rounding was asked for with " + std::to_string(options.random_bits) +
                " random bits; expected 1 to 24");
  }
  if (options.scaling != Scaling::tensor && options.scheme != Scheme::fp8) {
    throw Error("FP32 scales of parts of a tensor were asked for with scheme " +
                std::string(desc(options.scheme).name) + ": only fp8 has them; take one for the tensor");
  }
  if (is_luq(options.scheme) && options.rounding != Rounding::nearest_even &&
      options.rounding != Rounding::stochastic) {
    throw Error("a rounding that luq does not have was asked for; expected nearest_even or stochastic");
  }
  if (is_luq(options.scheme) && options.power_of_two_scale) {
    throw Error(
        "a power-of-two tensor scale was asked for with luq, whose FP4 operand always has one and whose INT4 operand "
        "is "
        "scaled by SAWB: drop that option");
  }
  const bool no_scale = is_mx(options.scheme);
  if (options.power_of_two_scale && (no_scale || options.rule == ScaleRule::vendor || options.tensor_scale)) {
    throw Error(
        "a power-of-two tensor scale was asked for where the scale is not computed by the exact rule: drop that "
        "option");
  }
  if (!options.tensor_scale) return;
  if (no_scale) {
    throw Error("a tensor scale was given for " + std::string(desc(options.scheme).name) + ", which has none: drop it");
  }
  if (options.scaling != Scaling::tensor) {
    throw Error("a tensor scale was given where each part of the tensor has a scale of its own: drop one of the two");
  }
  if (!std::isfinite(*options.tensor_scale) || *options.tensor_scale <= 0) {
    throw Error("the given tensor scale is " + std::to_string(*options.tensor_scale) +
                "; expected a positive finite number");
  }
}

/// The two operands of LUQ's product: `q` has everything but scale and codes.
void quantize_luq(std::span<const float> x, std::size_t cols, Axis along, float amax, const QuantizeOptions& options,
                  QuantizedMatrix& q) {
  std::vector<float> gathered;
  std::span<const float> vectors = x;
  if (along == Axis::columns) {
    gathered.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) gathered[i % cols * q.k + i / cols] = x[i];
    vectors = gathered;
  }
  q.codes.resize(x.size());
  if (q.scheme == Scheme::int4) {
    const Int4Tensor int4 =
        int4_quantize(vectors, options.tensor_scale ? double{*options.tensor_scale} * 7.5 : sawb_clip(x));
    q.tensor_scale = int4.scale;
    std::ranges::transform(int4.values, q.codes.begin(), [](int v) { return static_cast<std::uint8_t>(v & 15); });
    return;
  }
  q.tensor_scale = tensor_scale(amax, options);
  const bool stochastic = options.rounding == Rounding::stochastic;
  const detail::LuqGrid grid(q.tensor_scale, luq_storage_levels,
                             stochastic ? LuqRounding::stochastic : LuqRounding::nearest_power, options.random_bits);
  constexpr std::size_t piece = 1 << 14;
  detail::parallel_for((x.size() + piece - 1) / piece, options.threads, [&](std::size_t job) {
    const std::size_t first = job * piece, count = std::min(piece, x.size() - first);
    std::vector<std::uint32_t> random(count);
    if (stochastic) random_fields(options.seed, first, options.random_bits, random);
    for (std::size_t i = 0; i < count; ++i) {
      q.codes[first + i] = grid.code(vectors[first + i], random[i]);
    }
  });
}

}  // namespace

namespace detail {

float largest_finite(std::span<const float> x, unsigned threads) {
  constexpr std::size_t piece = 1 << 16;
  std::atomic<std::uint32_t> largest{0};
  parallel_for((x.size() + piece - 1) / piece, threads, [&](std::size_t i) {
    const std::span<const float> part = x.subspan(i * piece, std::min(piece, x.size() - i * piece));
    std::uint32_t mine = kernels().amax_bits(part.data(), part.size());
    if (mine >= inf_bits) {
      mine = 0;
      for (const float v : part) {
        if (std::isfinite(v)) mine = std::max(mine, std::bit_cast<std::uint32_t>(std::abs(v)));
      }
    }
    std::uint32_t seen = largest;
    while (seen < mine && !largest.compare_exchange_weak(seen, mine)) {
    }
  });
  return std::bit_cast<float>(largest.load());
}

float find_amax(std::span<const float> x, std::size_t cols, unsigned threads) {
  constexpr std::size_t piece = 1 << 16;
  std::atomic<std::uint32_t> largest{0};
  parallel_for((x.size() + piece - 1) / piece, threads, [&](std::size_t i) {
    const std::uint32_t mine = kernels().amax_bits(x.data() + i * piece, std::min(piece, x.size() - i * piece));
    std::uint32_t seen = largest;
    while (seen < mine && !largest.compare_exchange_weak(seen, mine)) {
    }
  });
  if (largest < inf_bits) return std::bit_cast<float>(largest.load());
  const std::size_t at = std::find_if_not(x.begin(), x.end(), [](float v) { return std::isfinite(v); }) - x.begin();
  throw Error("the value in row " + std::to_string(at / cols) + ", column " + std::to_string(at % cols) +
              " (from 0) is " +
              (std::isnan(x[at]) ? "NaN"
               : x[at] > 0       ? "infinity"
                                 : "-infinity") +
              ": quantization takes finite values only; replace it");
}

}  // namespace detail

float tensor_scale(float amax, const QuantizeOptions& options) {
  if (is_mx(options.scheme)) return 1.0F;
  if (options.tensor_scale) return *options.tensor_scale;
  if (options.scheme == Scheme::luq) return luq_alpha(amax);
  if (options.scheme == Scheme::int4) {
    throw Error(
        "the scale of int4 was asked for by the largest magnitude alone: it follows from all numbers (sawb_clip)");
  }
  const float largest = options.scheme == Scheme::nvfp4
                            ? nvfp4_max
                            : static_cast<float>(decode(options.element, desc(options.element).max_code()));
  if (options.rule == ScaleRule::vendor) return amax == 0 ? 1.0F : amax / largest;
  return options.power_of_two_scale ? amax_scale_power_of_two(amax, largest) : amax_scale(amax, largest);
}

QuantizedMatrix quantize(std::span<const float> x, std::size_t rows, std::size_t cols, Axis along,
                         const QuantizeOptions& options) {
  check(options);
  const std::string shape = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows == 0 || cols == 0) throw Error("the matrix is " + shape + "; expected at least one row and one column");
  if (x.size() / rows != cols || x.size() % rows != 0) {
    throw Error("the matrix is said to be " + shape + " but has " + std::to_string(x.size()) +
                " values: pass rows * columns of them");
  }
  if (options.rule == ScaleRule::vendor) {
    Dialect te = find_dialect("te");
    te.rounding = options.rounding;
    if (te.rounding == Rounding::stochastic) te.random_bits = options.random_bits;
    return quantize(x, rows, cols, along, te,
                    {.tensor_scale = options.tensor_scale, .seed = options.seed, .threads = options.threads});
  }
  const float amax = detail::find_amax(x, cols, options.threads);
  QuantizedMatrix q;
  q.scheme = options.scheme;
  q.element = options.element;
  q.rows = along == Axis::rows ? rows : cols;
  q.k = along == Axis::rows ? cols : rows;
  const std::size_t block = block_size(q.scheme);
  q.k_padded = (q.k + block - 1) / block * block;
  q.scaling = options.scaling;
  if (is_luq(q.scheme)) {
    quantize_luq(x, cols, along, amax, options, q);
    return q;
  }
  q.tensor_scale = q.scaling == Scaling::tensor ? tensor_scale(amax, options) : 1.0F;
  q.codes.resize(q.rows * q.k_padded);
  if (has_block_scales(q.scheme)) q.scales.resize(q.rows * q.blocks());

  const VectorQuantizer quantizer(options, q.tensor_scale);
  const std::size_t scales = q.scales.empty() ? 0 : q.blocks();
  constexpr std::size_t group = 32;  // vectors of one job; columns are gathered by cache lines
  /// Calls f(vector's number, its elements, scratch) for the vectors of one job.
  const auto each_vector = [&](std::size_t job, const auto& f) {
    const std::size_t first = job * group, count = std::min(group, q.rows - first);
    const bool in_place = along == Axis::rows && q.k == q.k_padded;
    Scratch scratch;
    const std::size_t pitch = q.k_padded + 16;  // not a power of two, so that the vectors do not meet in one cache set
    if (!in_place) scratch.padded.resize(group * pitch);
    for (std::size_t i = 0; !in_place && i < q.k; ++i) {
      for (std::size_t v = 0; v < count; ++v) {
        scratch.padded[v * pitch + i] = along == Axis::rows ? x[(first + v) * cols + i] : x[i * cols + first + v];
      }
    }
    for (std::size_t v = 0; v < count; ++v) {
      f(first + v, in_place ? x.data() + (first + v) * cols : scratch.padded.data() + v * pitch, scratch);
    }
  };
  const std::size_t jobs = (q.rows + group - 1) / group;
  if (q.scaling != Scaling::tensor) {
    const std::size_t part = is_blocked(q.scaling) ? fp32_block : q.k, parts = q.scale_columns();
    std::vector<float> largest(q.rows * parts);
    detail::parallel_for(jobs, options.threads, [&](std::size_t job) {
      each_vector(job, [&](std::size_t vector, const float* from, Scratch&) {
        for (std::size_t i = 0; i < parts; ++i) {
          const std::size_t size = std::min(part, q.k - i * part);
          largest[vector * parts + i] = std::bit_cast<float>(kernels().amax_bits(from + i * part, size));
        }
      });
    });
    const std::size_t shared = q.scaling == Scaling::block_128x128 ? fp32_block : 1;
    q.fp32_scales.assign(q.scale_rows() * parts, 0.0F);
    for (std::size_t i = 0; i < largest.size(); ++i) {
      float& scale = q.fp32_scales[i / parts / shared * parts + i % parts];
      scale = std::max(scale, largest[i]);
    }
    for (float& scale : q.fp32_scales) scale = tensor_scale(scale, options);
  }
  detail::parallel_for(jobs, options.threads, [&](std::size_t job) {
    each_vector(job, [&](std::size_t vector, const float* from, Scratch& scratch) {
      quantizer(from, q.k_padded, vector, q, q.codes.data() + vector * q.k_padded, q.scales.data() + vector * scales,
                scratch);
    });
  });
  return q;
}

double element_value(Scheme scheme, Format element, std::uint32_t code) {
  return scheme == Scheme::int4 ? int4_value(code) : decode(element, code);
}

namespace {

/// Elements that have one scale: of a block, or of as many as have one FP32 scale.
std::size_t scaled_length(const QuantizedMatrix& q) {
  return has_block_scales(q.scheme) ? block_size(q.scheme) : is_blocked(q.scaling) ? fp32_block : q.k;
}

/// value * scale * FP32 scale has 32 bits at most, so that doubles hold it. Values of 4 bits are tabulated under each
/// block scale, those of 8 bits where the tensor has one scale.
template <class T>
void write_values(const QuantizedMatrix& q, std::span<T> out, unsigned threads) {
  if (!detail::is_product(out.size(), q.rows, q.k)) {
    throw Error("the memory for the values has " + std::to_string(out.size()) + " elements; expected " +
                std::to_string(q.rows) + " x " + std::to_string(q.k));
  }
  const std::size_t length = scaled_length(q), codes = std::size_t{1} << desc(q.element).bits;
  const bool block_scales = has_block_scales(q.scheme),
             tabulated = q.scaling == Scaling::tensor && (codes == 16 || !block_scales);
  std::array<double, 256> value{}, scale;
  scale.fill(1.0);
  for (std::size_t code = 0; code < codes; ++code) {
    value[code] = element_value(q.scheme, q.element, static_cast<std::uint32_t>(code));
  }
  for (std::uint32_t code = 0; block_scales && code < 256; ++code) scale[code] = decode(scale_format(q.scheme), code);
  std::vector<T> table;
  for (std::size_t s = 0; tabulated && s < (block_scales ? 256 : 1); ++s) {
    for (std::size_t code = 0; code < codes; ++code) {
      table.push_back(static_cast<T>(value[code] * scale[s] * q.tensor_scale));
    }
  }

  constexpr std::size_t piece = 1 << 14;  // elements of a job, about
  const std::size_t group = std::max<std::size_t>(1, piece / q.k);
  detail::parallel_for((q.rows + group - 1) / group, threads, [&](std::size_t job) {
    for (std::size_t row = job * group; row < std::min(q.rows, (job + 1) * group); ++row) {
      const std::uint8_t* const from = q.codes.data() + row * q.k_padded;
      T* const to = out.data() + row * q.k;
      if constexpr (std::is_same_v<T, float>) {
        if (tabulated && codes == 16) {
          constexpr std::uint8_t none = 0;
          const std::uint8_t* const scales = block_scales ? q.scales.data() + row * q.blocks() : &none;
          kernels().values4(from, scales, length, q.k, table.data(), to);
          continue;
        }
      }
      for (std::size_t first = 0; first < q.k; first += length) {
        const std::size_t end = std::min(q.k, first + length),
                          code = block_scales ? q.scales[row * q.blocks() + first / length] : 0;
        if (tabulated) {
          const T* const here = table.data() + code * codes;
          for (std::size_t i = first; i < end; ++i) to[i] = here[from[i]];
        } else {
          const double by_block = scale[code], by_part = q.fp32_scale(row, first);
          for (std::size_t i = first; i < end; ++i) to[i] = static_cast<T>(value[from[i]] * by_block * by_part);
        }
      }
    }
  });
}

}  // namespace

std::vector<double> dequantize(const QuantizedMatrix& q) {
  check(q, "the matrix to dequantize");
  std::vector<double> values(q.rows * q.k);
  write_values(q, std::span(values), 1);
  return values;
}

void dequantize(const QuantizedMatrix& q, std::span<double> out, unsigned threads) {
  check(q, "the matrix to dequantize");
  write_values(q, out, threads);
}

void dequantize(const QuantizedMatrix& q, std::span<float> out, unsigned threads) {
  check(q, "the matrix to dequantize");
  write_values(q, out, threads);
}

void check(const QuantizedMatrix& q, std::string_view name) {
  const std::string whose(name);
  check_element(q.scheme, q.element, whose);
  if (q.rows == 0 || q.k == 0) {
    throw Error(whose + " has " + std::to_string(q.rows) + " vectors of " + std::to_string(q.k) +
                " elements; expected at least one of each");
  }
  const std::size_t block = block_size(q.scheme), padded = (q.k + block - 1) / block * block;
  if (q.k_padded != padded || padded < q.k || !detail::is_product(q.codes.size(), q.rows, padded) ||
      q.scales.size() != (has_block_scales(q.scheme) ? q.rows * q.blocks() : 0)) {
    throw Error(whose + " of scheme " + std::string(desc(q.scheme).name) + ", " + std::to_string(q.rows) +
                " vectors of " + std::to_string(q.k) + ", has k_padded = " + std::to_string(q.k_padded) + ", " +
                std::to_string(q.codes.size()) + " codes and " + std::to_string(q.scales.size()) +
                " scales; expected k_padded = " + std::to_string(padded) + ", " + std::to_string(q.rows * padded) +
                " codes and " + std::to_string(has_block_scales(q.scheme) ? q.rows * (padded / block) : 0) + " scales");
  }
  if (q.scaling != Scaling::tensor && q.scheme != Scheme::fp8) {
    throw Error(whose + " of scheme " + std::string(desc(q.scheme).name) +
                " has FP32 scales of parts; expected one for the tensor");
  }
  const std::size_t expected = q.scaling == Scaling::tensor ? 0 : q.scale_rows() * q.scale_columns();
  if (q.fp32_scales.size() != expected || (expected != 0 && q.tensor_scale != 1.0F)) {
    throw Error(whose + ", " + std::to_string(q.rows) + " vectors of " + std::to_string(q.k) + ", has " +
                std::to_string(q.fp32_scales.size()) + " FP32 scales and tensor scale " +
                std::to_string(q.tensor_scale) + "; expected " + std::to_string(expected) +
                (expected != 0 ? ", and 1 for the tensor" : ""));
  }
}

}  // namespace narrowgauge
