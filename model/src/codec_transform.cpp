// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "codec_head.hpp"
#include "narrowgauge/codec/transform.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {
namespace {

constexpr std::array<std::uint8_t, 4> magic{'N', 'G', 'F', 'T'};
constexpr unsigned version = 1;
constexpr std::uint8_t flag_relu = 1, flag_diagonal = 2;
constexpr unsigned most_shift = 40;

/// Where a map has the channels of its vectors.
struct Channels {
  std::size_t outer = 1, channels = 0, inner = 1;

  Channels(std::span<const std::uint64_t> shape, std::size_t axis) {
    if (axis >= shape.size()) {
      throw Error("axis is " + std::to_string(axis) + ", but the map has " + std::to_string(shape.size()) +
                  (shape.size() == 1 ? " dimension" : " dimensions") + "; name one of them, counted from 0");
    }
    for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
    channels = shape[axis];
  }
  std::size_t vectors() const { return outer * inner; }
  std::size_t at(std::size_t vector, std::size_t channel) const {
    return (vector / inner * channels + channel) * inner + vector % inner;
  }
};

Channels channels_of(std::span<const std::uint64_t> shape, std::size_t axis, std::size_t values) {
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0 || elements > values / extent) elements = 0;
    elements *= extent;
  }
  if (elements == 0 || elements != values) {
    throw Error("the shape of the map does not have the " + std::to_string(values) +
                " values that it holds; expected their product, and at least one value");
  }
  return {shape, axis};
}

Channels channels_of(std::span<const std::uint64_t> shape, const Transform& transform, std::size_t values) {
  const Channels channels = channels_of(shape, transform.axis, values);
  if (channels.channels != transform.channels) {
    throw Error("the map has " + std::to_string(channels.channels) + " channels, and the transform " +
                std::to_string(transform.channels) + "; calibrate one for this layer");
  }
  return channels;
}

/// Diagonalizes a symmetric matrix of n x n by rotations, row after row (Jacobi, 1846). Written out here since neither
/// the program nor the wheel has a library of linear algebra, and since it makes the same bits on every machine. `rows`
/// becomes the unit vectors, one a row, the values stay on the diagonal of `a`.
void jacobi(std::vector<double>& a, std::vector<double>& rows, std::size_t n) {
  rows.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) rows[i * n + i] = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, on = 0;
    for (std::size_t p = 0; p < n; ++p) {
      on += a[p * n + p] * a[p * n + p];
      for (std::size_t q = p + 1; q < n; ++q) off += a[p * n + q] * a[p * n + q];
    }
    if (off <= 1e-30 * on) return;
    for (std::size_t p = 0; p < n; ++p) {
      detail::breathe();
      for (std::size_t q = p + 1; q < n; ++q) {
        const double apq = a[p * n + q];
        if (apq == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
        const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a[k * n + p], kq = a[k * n + q];
          a[k * n + p] = c * kp - s * kq;
          a[k * n + q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a[p * n + k], qk = a[q * n + k];
          a[p * n + k] = c * pk - s * qk;
          a[q * n + k] = s * pk + c * qk;
          const double vp = rows[p * n + k], vq = rows[q * n + k];
          rows[p * n + k] = c * vp - s * vq;
          rows[q * n + k] = s * vp + c * vq;
        }
      }
    }
  }
}

/// The integers of y = M x + b: the largest shift under which every entry has `bits` bits.
IntegerTransform to_integers(std::span<const double> matrix, std::span<const double> bias, unsigned bits) {
  const double largest = std::fabs(
      *std::max_element(matrix.begin(), matrix.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); }));
  const double top = (1 << (bits - 1)) - 1;
  IntegerTransform t;
  t.size = bias.size();
  while (t.shift < most_shift && std::nearbyint(std::ldexp(largest, static_cast<int>(t.shift) + 1)) <= top) ++t.shift;
  if (std::nearbyint(std::ldexp(largest, static_cast<int>(t.shift))) > top) {
    throw Error("an entry of the transform is " + std::to_string(largest) + ", above the largest of " +
                std::to_string(bits) + " bits; allow a larger step, or more bits of the matrix");
  }
  const int shift = static_cast<int>(t.shift);
  for (const double entry : matrix)
    t.matrix.push_back(static_cast<std::int16_t>(std::nearbyint(std::ldexp(entry, shift))));
  for (const double b : bias) {
    t.bias.push_back(static_cast<std::int64_t>(std::nearbyint(std::ldexp(b, shift))) +
                     (shift > 0 ? std::int64_t{1} << (shift - 1) : 0));
  }
  return t;
}

double largest_magnitude(std::span<const float> x) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]))
      throw Error("value " + std::to_string(i) + " of the map is not finite; a step has no code for it");
    largest = std::max(largest, double{std::fabs(x[i])});
  }
  return largest;
}

int input_code(float x, const Transform& t) {
  return static_cast<int>(
      std::clamp(std::nearbyint(double{x} / double{t.input_step}), -double{transform_codes}, double{transform_codes}));
}

/// Means, unit vectors and variances.
void find_components(std::span<const float> x, const Channels& at, Transform& t) {
  const std::size_t n = t.group;
  const double count = static_cast<double>(at.vectors());
  detail::Pace pace;
  for (std::size_t channel = 0; channel < t.channels; ++channel) {
    for (std::size_t v = 0; v < at.vectors(); ++v) {
      pace();
      t.mean[channel] += x[at.at(v, channel)] / count;
    }
  }
  std::vector<double> covariance(n * n), rows, centred(n), sorted(n * n);
  for (std::size_t first = 0; first < t.channels; first += n) {
    std::fill(covariance.begin(), covariance.end(), 0);
    for (std::size_t v = 0; v < at.vectors(); ++v) {
      pace(n * n / 2 + 1);
      for (std::size_t i = 0; i < n; ++i) centred[i] = x[at.at(v, first + i)] - t.mean[first + i];
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i; j < n; ++j) covariance[i * n + j] += centred[i] * centred[j];
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) covariance[j * n + i] = covariance[i * n + j] /= count;
    jacobi(covariance, rows, n);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return covariance[a * n + a] > covariance[b * n + b]; });
    for (std::size_t k = 0; k < n; ++k) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>(order[k] * n);
      // The sign is free: the largest entry is positive.
      const double most = *std::max_element(row, row + static_cast<std::ptrdiff_t>(n),
                                            [](double a, double b) { return std::fabs(a) < std::fabs(b); });
      for (std::size_t j = 0; j < n; ++j)
        sorted[k * n + j] = most < 0 ? -row[static_cast<std::ptrdiff_t>(j)] : row[static_cast<std::ptrdiff_t>(j)];
      t.variance.push_back(std::max(0.0, covariance[order[k] * n + order[k]]));
    }
    t.vectors.insert(t.vectors.end(), sorted.begin(), sorted.end());
  }
}

/// The largest magnitude of a component of the map.
double largest_component(std::span<const float> x, const Channels& at, const Transform& t) {
  const std::size_t n = t.group;
  double largest = 0;
  detail::Pace pace;
  std::vector<double> centred(n);
  for (std::size_t first = 0; first < t.channels; first += n) {
    const double* rows = t.vectors.data() + first * n;
    for (std::size_t v = 0; v < at.vectors(); ++v) {
      pace(n * n);
      for (std::size_t i = 0; i < n; ++i) centred[i] = x[at.at(v, first + i)] - t.mean[first + i];
      for (std::size_t k = 0; k < n; ++k) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += rows[k * n + i] * centred[i];
        largest = std::max(largest, std::fabs(sum));
      }
    }
  }
  return largest;
}

std::array<std::uint64_t, 256> count_codes(std::span<const std::int8_t> codes) {
  std::array<std::uint64_t, 256> counts{};
  for (const std::int8_t code : codes) ++counts[static_cast<std::uint8_t>(code)];
  return counts;
}

double bits_of(const std::array<std::uint64_t, 256>& counts) {
  double total = 0, bits = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  for (const std::uint64_t count : counts)
    if (count != 0) bits += static_cast<double>(count) * std::log2(total / static_cast<double>(count));
  return bits;
}

/// The table of every component, of at most `tables`: components in order of their energy are cut where the entropies
/// of the parts, each with a head of its own, sum up to the least.
std::vector<std::uint8_t> choose_tables(std::span<const std::int8_t> codes, std::size_t components,
                                        std::size_t tables) {
  const std::size_t each = codes.size() / components;
  std::vector<std::array<std::uint64_t, 256>> counts;
  std::vector<double> energy;
  for (std::size_t c = 0; c < components; ++c) {
    counts.push_back(count_codes(codes.subspan(c * each, each)));
    double sum = 0;
    for (const std::int8_t code : codes.subspan(c * each, each)) sum += double{static_cast<float>(code)} * code;
    energy.push_back(sum);
  }
  std::vector<std::size_t> order(components);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return energy[a] > energy[b]; });
  constexpr double head_bits = 8 * 180;  // of a file of compress(): head, table, an entry or two of the index
  constexpr double none = std::numeric_limits<double>::infinity();
  // best[t][e]: bits of the first e components under t tables; cut[t][e]: where the last of these begins.
  std::vector<std::vector<double>> best(tables + 1, std::vector<double>(components + 1, none));
  std::vector<std::vector<std::size_t>> cut(tables + 1, std::vector<std::size_t>(components + 1));
  best[0][0] = 0;
  for (std::size_t begin = 0; begin < components; ++begin) {
    detail::breathe();
    std::array<std::uint64_t, 256> pooled{};
    for (std::size_t end = begin + 1; end <= components; ++end) {
      for (std::size_t s = 0; s < 256; ++s) pooled[s] += counts[order[end - 1]][s];
      const double bits = bits_of(pooled) + head_bits;
      for (std::size_t t = 0; t < tables; ++t) {
        if (best[t][begin] + bits < best[t + 1][end]) {
          best[t + 1][end] = best[t][begin] + bits;
          cut[t + 1][end] = begin;
        }
      }
    }
  }
  std::size_t used = 1;
  for (std::size_t t = 2; t <= tables; ++t)
    if (best[t][components] < best[used][components]) used = t;
  std::vector<std::uint8_t> table_of(components);
  for (std::size_t t = used, end = components; t > 0; --t) {
    for (std::size_t i = cut[t][end]; i < end; ++i) table_of[order[i]] = static_cast<std::uint8_t>(t - 1);
    end = cut[t][end];
  }
  return table_of;
}

std::vector<float> inverse_of(std::span<const std::int8_t> codes, const Channels& at,
                              std::span<const IntegerTransform> inverse, float output_step) {
  const std::size_t n = inverse.front().size, vectors = at.vectors();
  std::vector<float> x(codes.size());
  std::vector<std::int32_t> in(n), out(n);
  detail::Pace pace;
  for (std::size_t g = 0; g < inverse.size(); ++g) {
    for (std::size_t v = 0; v < vectors; ++v) {
      pace(n * n);
      for (std::size_t k = 0; k < n; ++k) in[k] = codes[(g * n + k) * vectors + v];
      apply(inverse[g], in, out);
      for (std::size_t j = 0; j < n; ++j) x[at.at(v, g * n + j)] = static_cast<float>(out[j]) * output_step;
    }
  }
  return x;
}

}  // namespace

Transform calibrate_transform(std::span<const float> x, std::span<const std::uint64_t> shape,
                              const TransformOptions& options) {
  if (options.bits < 2 || options.bits > 8)
    throw Error("bits is " + std::to_string(options.bits) + "; expected 2 to 8");
  if (options.matrix_bits < 8 || options.matrix_bits > 16)
    throw Error("matrix_bits is " + std::to_string(options.matrix_bits) + "; expected 8 to 16");
  if (!(options.step >= 0) || std::isinf(options.step))
    throw Error("step is " + std::to_string(options.step) + "; expected a number above 0, or 0 for the map's own");
  const Channels at = channels_of(shape, options.axis, x.size());
  Transform t;
  t.axis = options.axis;
  t.channels = at.channels;
  t.bits = options.bits;
  t.matrix_bits = options.matrix_bits;
  t.relu = options.relu;
  t.basis = options.basis;
  t.group = options.group;
  if (t.group == 0) {
    t.group = std::min<std::size_t>(64, t.channels);
    while (t.channels % t.group != 0) --t.group;
  }
  if (t.group > largest_group || t.channels % t.group != 0) {
    throw Error("group is " + std::to_string(t.group) + "; expected a divisor of the map's " +
                std::to_string(t.channels) + " channels, at most " + std::to_string(largest_group));
  }
  const double amax = largest_magnitude(x);
  t.input_step = static_cast<float>(2 * amax / transform_codes);
  if (t.input_step < std::numeric_limits<float>::min())
    throw Error("the largest magnitude of the map is " + std::to_string(amax) + "; scale the map, or leave it raw");

  const std::size_t n = t.group;
  t.mean.assign(t.channels, 0);
  if (t.basis == Basis::klt) {
    find_components(x, at, t);
  } else {
    t.vectors.assign(t.channels * n, 0);
    for (std::size_t c = 0; c < t.channels; ++c) t.vectors[c * n + c % n] = 1;
    t.variance.assign(t.channels, 0);
    for (std::size_t c = 0; c < t.channels; ++c)
      for (std::size_t v = 0; v < at.vectors(); ++v)
        t.variance[c] += double{x[at.at(v, c)]} * x[at.at(v, c)] / static_cast<double>(at.vectors());
  }
  double step = options.step;
  if (step == 0) {
    step = largest_component(x, at, t) / ((1 << (t.bits - 1)) - 1);
    if (step == 0) step = 1;  // every vector is the mean
  }
  return with_step(std::move(t), step);
}

Transform with_step(Transform t, double step) {
  t.step = static_cast<float>(step);
  // A 64th of a step, so that the inverse has few bits; or what the map's range needs, where that is coarser.
  t.output_step = std::max(t.input_step, t.step / 64);
  if (!(step > 0) || !std::isnormal(t.step) || !std::isnormal(t.output_step))
    throw Error("the step of the components is " + std::to_string(step) + ", no normal float32 above 0; scale the map");
  t.forward.clear();
  t.inverse.clear();
  const std::size_t n = t.group;
  const int top = (1 << (t.bits - 1)) - 1;
  std::vector<double> matrix(n * n), bias(n);
  for (std::size_t first = 0; first < t.channels; first += n) {
    const double* rows = t.vectors.data() + first * n;
    for (std::size_t k = 0; k < n; ++k) {
      bias[k] = 0;
      for (std::size_t j = 0; j < n; ++j) {
        matrix[k * n + j] = rows[k * n + j] * t.input_step / t.step;
        bias[k] -= rows[k * n + j] * t.mean[first + j] / t.step;
      }
    }
    t.forward.push_back(to_integers(matrix, bias, t.matrix_bits));
    t.forward.back().low = -top;
    t.forward.back().high = top;
    for (std::size_t j = 0; j < n; ++j) {
      bias[j] = t.mean[first + j] / t.output_step;
      for (std::size_t k = 0; k < n; ++k) matrix[j * n + k] = rows[k * n + j] * t.step / t.output_step;
    }
    t.inverse.push_back(to_integers(matrix, bias, t.matrix_bits));
    t.inverse.back().low = t.relu ? 0 : -transform_codes;
    t.inverse.back().high = transform_codes;
  }
  return t;
}

namespace {

/// Of one direction: the largest over all rows of what rounding result, matrix and bias can do.
double integer_error(const Transform& t, bool forward, double largest) {
  const std::size_t n = t.group;
  double bound = 0;
  for (std::size_t first = 0; first < t.channels; first += n) {
    const IntegerTransform& integers = (forward ? t.forward : t.inverse)[first / n];
    const double* rows = t.vectors.data() + first * n;
    const double scale = forward ? double{t.input_step} / t.step : double{t.step} / t.output_step;
    for (std::size_t r = 0; r < n; ++r) {
      // Half of the result's last place, half of the bias's.
      double error = integers.shift == 0 ? 1 : 0.5 + std::ldexp(0.5, -static_cast<int>(integers.shift));
      for (std::size_t c = 0; c < n; ++c) {
        const double exact = (forward ? rows[r * n + c] : rows[c * n + r]) * scale;
        error += largest * std::fabs(std::ldexp(integers.matrix[r * n + c], -static_cast<int>(integers.shift)) - exact);
      }
      bound = std::max(bound, error);
    }
  }
  return bound * (1 + 1e-12);  // the doubles here
}

}  // namespace

double forward_error_bound(const Transform& t, double largest) { return integer_error(t, true, largest); }
double inverse_error_bound(const Transform& t) { return integer_error(t, false, (1 << (t.bits - 1)) - 1); }

double error_bound(const Transform& t, double largest) {
  // Codes of the map are off by half a step of the input; that, unchanged by an orthogonal matrix and its inverse, adds
  // to what each error of a component does to every channel.
  double gain = 0;
  for (std::size_t first = 0; first < t.channels; first += t.group) {
    for (std::size_t j = 0; j < t.group; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < t.group; ++k) sum += std::fabs(t.vectors[(first + k) * t.group + j]);
      gain = std::max(gain, sum);
    }
  }
  return (0.5 * t.input_step + gain * forward_error_bound(t, largest) * t.step +
          inverse_error_bound(t) * t.output_step) *
         (1 + 1e-6);  // unit vectors in float64, results in float32
}

std::vector<std::int8_t> forward_transform(std::span<const float> x, std::span<const std::uint64_t> shape,
                                           const Transform& transform) {
  const Channels at = channels_of(shape, transform, x.size());
  static_cast<void>(largest_magnitude(x));
  const std::size_t n = transform.group, vectors = at.vectors();
  std::vector<std::int8_t> codes(x.size());
  std::vector<std::int32_t> in(n), out(n);
  detail::Pace pace;
  for (std::size_t g = 0; g < transform.forward.size(); ++g) {
    for (std::size_t v = 0; v < vectors; ++v) {
      pace(n * n);
      for (std::size_t j = 0; j < n; ++j) in[j] = input_code(x[at.at(v, g * n + j)], transform);
      apply(transform.forward[g], in, out);
      for (std::size_t k = 0; k < n; ++k) codes[(g * n + k) * vectors + v] = static_cast<std::int8_t>(out[k]);
    }
  }
  return codes;
}

std::vector<float> inverse_transform(std::span<const std::int8_t> codes, std::span<const std::uint64_t> shape,
                                     const Transform& transform) {
  return inverse_of(codes, channels_of(shape, transform, codes.size()), transform.inverse, transform.output_step);
}

std::vector<std::uint8_t> compress_transformed(std::span<const float> x, std::vector<std::uint64_t> shape,
                                               const Transform& transform, const TransformFileOptions& options) {
  if (options.tables < 1 || options.tables > most_tables) {
    throw Error("tables is " + std::to_string(options.tables) + "; expected 1 to " + std::to_string(most_tables));
  }
  if (shape.empty() || shape.size() > most_dimensions) {
    throw Error("the map has " + std::to_string(shape.size()) + " dimensions; expected 1 to " +
                std::to_string(most_dimensions));
  }
  const auto codes = forward_transform(x, shape, transform);
  const std::size_t components = transform.channels, vectors = codes.size() / components;
  const auto table_of = choose_tables(codes, components, options.tables);
  const std::size_t tables = 1U + *std::max_element(table_of.begin(), table_of.end());
  std::vector<std::vector<std::uint8_t>> parts;
  for (std::size_t t = 0; t < tables; ++t) {
    FeatureMap part{{0, vectors}, {}, true, 0};
    for (std::size_t c = 0; c < components; ++c) {
      if (table_of[c] != t) continue;
      ++part.shape[0];
      for (std::size_t v = 0; v < vectors; ++v)
        part.values.push_back(static_cast<std::uint8_t>(codes[c * vectors + v]));
    }
    parts.push_back(compress(part, {options.tile, options.zero_runs}));
  }
  const bool diagonal = transform.basis == Basis::identity;
  HeadWriter head;
  head.raw(magic);
  head.number(version, 2);
  head.number((transform.relu ? flag_relu : 0) | (diagonal ? flag_diagonal : 0), 1);
  head.number(shape.size(), 1);
  head.number(transform.axis, 1);
  head.number(tables, 1);
  head.number(transform.group, 2);
  head.number(std::bit_cast<std::uint32_t>(transform.step), 4);
  head.number(std::bit_cast<std::uint32_t>(transform.output_step), 4);
  for (const std::uint64_t extent : shape) head.number(extent, 4);
  head.raw(table_of);
  for (const IntegerTransform& inverse : transform.inverse) {
    head.number(inverse.shift, 1);
    for (std::size_t r = 0; r < inverse.size; ++r) {
      for (std::size_t c = diagonal ? r : 0; c < (diagonal ? r + 1 : inverse.size); ++c)
        head.number(static_cast<std::uint16_t>(inverse.matrix[r * inverse.size + c]), 2);
      head.number(static_cast<std::uint64_t>(inverse.bias[r]), 8);
    }
  }
  for (const auto& part : parts) head.number(part.size(), 8);
  head.number(crc32(head.bytes()), 4);
  for (const auto& part : parts) head.raw(part);
  return std::move(head.bytes());
}

bool is_transformed(std::span<const std::uint8_t> file) {
  return file.size() >= magic.size() && std::equal(magic.begin(), magic.end(), file.begin());
}

TransformedHead read_transformed_head(std::span<const std::uint8_t> file) {
  if (!is_transformed(file)) throw Error("this is no transformed feature map: it does not begin with NGFT");
  HeadReader in(file);
  in.raw(magic.size());
  in.version(version);
  TransformedHead head;
  const std::uint64_t flags = in.number(1), dimensions = in.number(1);
  head.axis = in.number(1);
  const std::uint64_t tables = in.number(1);
  head.group = in.number(2);
  head.step = std::bit_cast<float>(static_cast<std::uint32_t>(in.number(4)));
  head.output_step = std::bit_cast<float>(static_cast<std::uint32_t>(in.number(4)));
  if (flags > (flag_relu | flag_diagonal) || dimensions == 0 || dimensions > most_dimensions ||
      head.axis >= dimensions || tables == 0 || tables > most_tables || head.group == 0 || head.group > largest_group ||
      !std::isnormal(head.step) || !std::isnormal(head.output_step) || head.step < 0 || head.output_step < 0)
    throw corrupt_map("its head has a field out of range");
  head.relu = (flags & flag_relu) != 0;
  head.diagonal = (flags & flag_diagonal) != 0;
  std::tie(head.shape, head.values) = in.shape(dimensions);
  const std::size_t channels = head.shape[head.axis];
  if (channels % head.group != 0) throw corrupt_map("its channels are no multiple of its groups");
  const auto table_of = in.raw(channels);
  head.table_of.assign(table_of.begin(), table_of.end());
  if (*std::max_element(table_of.begin(), table_of.end()) >= tables) throw corrupt_map("a component has no table");
  for (std::size_t g = 0; g < channels / head.group; ++g) {
    IntegerTransform t;
    t.size = head.group;
    t.shift = static_cast<unsigned>(in.number(1));
    if (t.shift > most_shift) throw corrupt_map("its head has a field out of range");
    t.low = head.relu ? 0 : -transform_codes;
    t.high = transform_codes;
    if (in.left() / 2 < t.size * (head.diagonal ? 1 : t.size)) throw corrupt_map("its transform does not fit its size");
    t.matrix.assign(t.size * t.size, 0);
    for (std::size_t r = 0; r < t.size; ++r) {
      for (std::size_t c = head.diagonal ? r : 0; c < (head.diagonal ? r + 1 : t.size); ++c)
        t.matrix[r * t.size + c] = static_cast<std::int16_t>(in.number(2));
      t.bias.push_back(static_cast<std::int64_t>(in.number(8)));
      if (t.bias.back() > std::int64_t{1} << 62 || t.bias.back() < -(std::int64_t{1} << 62))
        throw corrupt_map("its head has a field out of range");
    }
    head.inverse.push_back(std::move(t));
  }
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t t = 0; t < tables; ++t) sizes.push_back(in.number(8));
  in.checksum();
  std::size_t at = in.position();
  for (const std::uint64_t size : sizes) {
    if (size > file.size() - at) throw corrupt_map("its parts do not fit its size");
    head.parts.push_back({at, size});
    at += size;
  }
  if (at != file.size())
    throw corrupt_map("it has " + std::to_string(file.size()) + " bytes, and its parts " + std::to_string(at));
  return head;
}

std::vector<float> decompress_transformed(std::span<const std::uint8_t> file, const TransformedHead& head) {
  const Channels at(head.shape, head.axis);
  const std::size_t vectors = at.vectors();
  const auto bytes_of = [&](std::size_t t) { return file.subspan(head.parts[t].begin, head.parts[t].size); };
  for (std::size_t t = 0; t < head.parts.size(); ++t) {
    const auto components = static_cast<std::uint64_t>(std::count(head.table_of.begin(), head.table_of.end(), t));
    if (read_head(bytes_of(t)).shape != std::vector<std::uint64_t>{components, vectors})
      throw corrupt_map("part " + std::to_string(t) + " does not have the components that it should");
  }
  std::vector<std::int8_t> codes(head.values);
  for (std::size_t t = 0; t < head.parts.size(); ++t) {
    const FeatureMap part = decompress(bytes_of(t));
    auto next = part.values.begin();
    for (std::size_t c = 0; c < head.table_of.size(); ++c) {
      if (head.table_of[c] != t) continue;
      std::copy_n(next, vectors, codes.begin() + static_cast<std::ptrdiff_t>(c * vectors));
      next += static_cast<std::ptrdiff_t>(vectors);
    }
  }
  return inverse_of(codes, at, head.inverse, head.output_step);
}

}  // namespace narrowgauge
