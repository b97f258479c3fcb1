// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/operands.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "features_operands.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/pann/pann.hpp"
#include "narrowgauge/parallel.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge::power {
namespace {

/// Vectors along the contraction, padded to whole beats.
struct Vectors {
  std::size_t count = 0, length = 0, blocks = 0;
  std::vector<std::uint32_t> codes;  // count x length
  std::vector<std::uint8_t> scales;  // count x blocks
};

struct Side {
  const char* name;
  std::span<const float> x;
  std::size_t rows, columns;
  Axis along;

  std::size_t vectors() const { return along == Axis::rows ? rows : columns; }
  std::size_t k() const { return along == Axis::rows ? columns : rows; }
  std::size_t index(std::size_t vector, std::size_t i) const {
    return along == Axis::rows ? vector * columns + i : i * columns + vector;
  }
  [[noreturn]] void fail(std::size_t at, const std::string& expected) const {
    throw Error(std::string(name) + " has " + std::to_string(x[at]) + " in row " + std::to_string(at / columns) +
                ", column " + std::to_string(at % columns) + "; expected " + expected);
  }
};

/// `symmetric`: without the least code of signed ones.
Vectors integer_codes(const Side& side, int width, bool is_signed, bool symmetric, bool as_they_are,
                      std::size_t length) {
  const int top = is_signed ? (1 << (width - 1)) - 1 : (1 << width) - 1;
  const int bottom = is_signed ? (as_they_are && !symmetric ? -top - 1 : -top) : 0;
  if (top == 0)
    throw Error(std::string(side.name) + " of signed integers of 1 bit has no scale; use 2 bits or unsigned");
  float largest = 0;
  for (std::size_t i = 0; i < side.x.size(); ++i) {
    if (!std::isfinite(side.x[i])) side.fail(i, "finite values");
    if (!is_signed && side.x[i] < 0) side.fail(i, "values of 0 or more: the operand is unsigned");
    largest = std::max(largest, std::abs(side.x[i]));
  }
  const double scale = as_they_are || largest == 0 ? 1 : static_cast<double>(top) / largest;
  const std::uint32_t mask = (std::uint32_t{1} << width) - 1;
  Vectors to{side.vectors(), length, 0, std::vector<std::uint32_t>(side.vectors() * length), {}};
  detail::Pace pace;
  for (std::size_t v = 0; v < to.count; ++v) {
    for (std::size_t i = 0; i < side.k(); ++i) {
      pace();
      const std::size_t at = side.index(v, i);
      const double code = std::nearbyint(side.x[at] * scale);
      if (code < bottom || code > top || (as_they_are && code != side.x[at]))
        side.fail(at, "whole numbers from " + std::to_string(bottom) + " to " + std::to_string(top));
      to.codes[v * length + i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(code)) & mask;
    }
  }
  return to;
}

/// Weights of repeated additions, each vector with its own step.
Vectors pann_codes(const Side& side, const MacSpec& mac, std::size_t length) {
  Vectors to{side.vectors(), length, 0, std::vector<std::uint32_t>(side.vectors() * length), {}};
  std::vector<float> vector(side.k());
  for (std::size_t v = 0; v < to.count; ++v) {
    detail::breathe();
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = side.x[side.index(v, i)];
    const pann::PannWeights weights = pann::quantize_weights(vector, mac.additions);
    if (weights.storage_width > mac.b_width)
      throw Error(std::string(side.name) + " needs weights of " + std::to_string(weights.storage_width) +
                  " bits in vector " + std::to_string(v) + "; expected b_width = " + std::to_string(mac.b_width) +
                  " or less (fewer additions, or a larger b_width)");
    for (std::size_t i = 0; i < vector.size(); ++i)
      to.codes[v * length + i] = static_cast<std::uint32_t>(weights.codes[i]) & ((2U << mac.b_width) - 1);
  }
  return to;
}

Vectors quantized_codes(const Side& side, const MacSpec& mac, bool b, std::size_t length) {
  const MacFormat format = mac.format_of(b);
  QuantizeOptions options;
  options.scheme = mac.luq()                    ? luq_scheme(b)
                   : format == MacFormat::nvfp4 ? Scheme::nvfp4
                   : format == MacFormat::mxfp4 ? Scheme::mxfp4
                                                : Scheme::fp8;
  options.element = mac.luq()                       ? Format::e3m0
                    : format == MacFormat::fp8_e4m3 ? Format::e4m3
                    : format == MacFormat::fp8_e5m2 ? Format::e5m2
                                                    : Format::e2m1;
  const QuantizedMatrix q = quantize(side.x, side.rows, side.columns, side.along, options);
  const std::size_t blocks = q.scales.empty() ? 0 : length / block_size(q.scheme);
  Vectors to{q.rows, length, blocks, std::vector<std::uint32_t>(q.rows * length),
             std::vector<std::uint8_t>(q.rows * blocks)};
  detail::Pace pace;
  for (std::size_t v = 0; v < q.rows; ++v) {
    pace(length);
    for (std::size_t i = 0; i < std::min(length, q.k_padded); ++i)
      to.codes[v * length + i] = q.codes[v * q.k_padded + i];
    for (std::size_t i = 0; i < std::min(blocks, q.blocks()); ++i)
      to.scales[v * blocks + i] = q.scales[v * q.blocks() + i];
  }
  return to;
}

}  // namespace

ProductOperands product_operands(const MacSpec& mac, std::span<const float> a, std::size_t rows, std::size_t k,
                                 std::span<const float> b, std::size_t columns, bool integers_as_they_are,
                                 std::size_t max_products) {
  check_priceable(mac);
  if (rows == 0 || k == 0 || columns == 0 || a.size() != rows * k || b.size() != k * columns)
    throw Error("A of " + std::to_string(a.size()) + " and B of " + std::to_string(b.size()) + " elements are not " +
                std::to_string(rows) + " x " + std::to_string(k) + " and " + std::to_string(k) + " x " +
                std::to_string(columns) + "; give sizes above 0 that fit");
  const auto lanes = static_cast<std::size_t>(mac.lanes);
  const std::size_t beats = (k + lanes - 1) / lanes, length = beats * lanes;
  const auto vectors = [&](const Side& side, bool is_b) {
    if (!mac.is(MacFormat::integer)) return quantized_codes(side, mac, is_b, length);
    if (is_b && is_repeated(mac) && !integers_as_they_are) return pann_codes(side, mac, length);
    const bool split = is_b && has_magnitudes(mac), is_signed = split || (is_b ? mac.b_signed : mac.a_signed);
    return integer_codes(side, code_bits(mac, is_b), is_signed, split, integers_as_they_are, length);
  };
  const Vectors va = vectors({"A", a, rows, k, Axis::rows}, false);
  const Vectors vb = vectors({"B", b, k, columns, Axis::columns}, true);

  // As many evenly spaced rows and columns as fit.
  std::size_t use_rows = rows, use_columns = columns;
  while (use_rows * use_columns * length > max_products && use_rows * use_columns > 1)
    (use_rows >= use_columns ? use_rows : use_columns) = ((use_rows >= use_columns ? use_rows : use_columns) + 1) / 2;

  ProductOperands to;
  to.outputs = use_rows * use_columns;
  to.of = rows * columns;
  to.a.reserve(to.outputs * length);
  to.b.reserve(to.outputs * length);
  const auto append = [&](const Vectors& from, std::size_t v, auto& codes, auto& scales) {
    const auto at = [](auto& list, std::size_t i) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
    codes.insert(codes.end(), at(from.codes, v * length), at(from.codes, (v + 1) * length));
    scales.insert(scales.end(), at(from.scales, v * from.blocks), at(from.scales, (v + 1) * from.blocks));
  };
  detail::Pace pace;
  for (std::size_t m = 0; m < use_rows; ++m) {
    for (std::size_t n = 0; n < use_columns; ++n) {
      pace(length);
      append(va, m * rows / use_rows, to.a, to.a_scale);
      append(vb, n * columns / use_columns, to.b, to.b_scale);
    }
  }
  order_products(mac, beats, to.a, to.b);
  to.stream = {to.outputs * beats, to.a, to.b, to.a_scale, to.b_scale, beats};
  return to;
}

}  // namespace narrowgauge::power
