// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/compare.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

constexpr double near = 0x1p-18;

/// Whether a magnitude in units of the format lies at a midpoint of two of its values.
bool is_tie(const FormatDesc& f, double y) {
  if (!(y < decode(f, f.max_code()))) return false;
  std::uint32_t low = 0, high = f.max_code();
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (decode(f, middle) <= y ? low : high) = middle;
  }
  const double midpoint = (decode(f, low) + decode(f, high)) / 2;
  return std::abs(y - midpoint) <= near * midpoint;
}

bool four_over_six(const Dialect& d) { return d.search != ScaleSearch::none; }

/// Why the two scales of a block of maximum `amax` differ.
DifferenceReason block_reason(const Dialect& a, const Dialect& b, const std::array<std::uint8_t, 2>& scale,
                              const std::array<double, 2>& g, double amax) {
  if (is_mx(a.scheme)) return DifferenceReason::rule;
  const FormatDesc& f = desc(Format::ue4m3);
  const std::array<double, 2> raw{amax / (a.element_max * g[0]), amax / (b.element_max * g[1])};
  const double least = std::min(raw[0], raw[1]), most = std::max(raw[0], raw[1]);
  if (least <= 0x1p-10 * (1 + near)) return DifferenceReason::zero;
  if (most >= 464 || (least < 0x1p-6 && (a.zero_scale == ZeroScale::floor) != (b.zero_scale == ZeroScale::floor))) {
    return DifferenceReason::clamp;
  }
  if (a.bound != b.bound || a.element_max != b.element_max || a.shape != b.shape || a.point != b.point ||
      a.constant_amax != b.constant_amax) {
    return DifferenceReason::rule;
  }
  if (four_over_six(a) || four_over_six(b)) {
    const double ratio = decode(f, scale[0]) / decode(f, scale[1]);
    if (ratio > 1.25 || ratio < 0.8) return DifferenceReason::search;
  }
  return is_tie(f, raw[0]) || is_tie(f, raw[1]) ? DifferenceReason::tie : DifferenceReason::rule;
}

/// Why the two codes of an element differ whose block has one scale; y is its magnitude in units of the scales.
DifferenceReason element_reason(const Dialect& d, std::uint8_t scale, std::uint8_t a, std::uint8_t b,
                                const std::array<double, 2>& y) {
  const FormatDesc& f = desc(d.element);
  const std::uint32_t size = f.payload_mask();
  if ((!is_mx(d.scheme) && scale == 0) || ((a | b) & size) == 0) return DifferenceReason::zero;
  const double largest = decode(f, f.max_code());
  if (y[0] > largest || y[1] > largest) return DifferenceReason::clamp;
  return is_tie(f, y[0]) || is_tie(f, y[1]) ? DifferenceReason::tie : DifferenceReason::rule;
}

}  // namespace

DialectDifference compare(std::span<const float> x, std::size_t rows, std::size_t cols, Axis along, const Dialect& a,
                          const Dialect& b, const DialectInputs& inputs, std::size_t examples) {
  check(a);
  check(b);
  const std::string names = std::string(a.name) + " and " + std::string(b.name);
  if (a.scheme != b.scheme || a.element != b.element) {
    throw Error("the dialects " + names + " have blocks or elements of different formats; expected two of one format");
  }
  if (a.front != b.front) {
    throw Error("the dialects " + names + " have different front stages; expected one, for elements to correspond");
  }
  const std::array<QuantizedMatrix, 2> q{quantize(x, rows, cols, along, a, inputs),
                                         quantize(x, rows, cols, along, b, inputs)};
  // x in the layout of the codes.
  const std::size_t vectors = q[0].rows, size = q[0].k_padded, block = block_size(a.scheme), blocks = q[0].blocks();
  std::vector<float> in(vectors * size);
  const std::size_t k = along == Axis::rows ? cols : rows;
  for (std::size_t v = 0; v < vectors; ++v) {
    for (std::size_t i = 0; i < k; ++i) in[v * size + i] = along == Axis::rows ? x[v * cols + i] : x[i * cols + v];
  }
  if (a.front != FrontStage::none) {
    std::vector<float> packed(vectors * k);
    for (std::size_t v = 0; v < vectors; ++v) std::copy_n(in.data() + v * size, k, packed.data() + v * k);
    const FrontResult front = front_stage(packed, vectors, k, a.front, inputs.threads);
    for (std::size_t v = 0; v < vectors; ++v) std::copy_n(front.x.data() + v * front.k, front.k, in.data() + v * size);
  }

  DialectDifference out;
  out.elements = vectors * q[0].k;
  out.blocks = vectors * blocks;
  out.tensor_scale = {q[0].tensor_scale, q[1].tensor_scale};
  const std::array<double, 2> g{q[0].tensor_scale, q[1].tensor_scale};
  const Format format = scale_format(a.scheme);
  const auto block_amax = [&](std::size_t v, std::size_t at, BlockShape shape) {
    const std::size_t high = shape == BlockShape::row ? 1 : 16, first = v / high * high;
    double amax = 0;
    for (std::size_t r = first; r < std::min(first + high, vectors); ++r) {
      for (std::size_t i = 0; i < block; ++i) amax = std::max(amax, std::abs(double{in[r * size + at * block + i]}));
    }
    return amax;
  };
  for (std::size_t v = 0; v < vectors; ++v) {
    for (std::size_t at = 0; at < blocks; ++at) {
      const std::array<std::uint8_t, 2> scale{q[0].scales[v * blocks + at], q[1].scales[v * blocks + at]};
      const std::array<double, 2> s{decode(format, scale[0]), decode(format, scale[1])};
      const bool two = scale[0] != scale[1];
      DifferenceReason block_why = DifferenceReason::scale;
      if (two) {
        block_why = block_reason(a, b, scale, g, block_amax(v, at, a.shape));
        ++out.blocks_differ;
        ++out.block_reasons[static_cast<std::size_t>(block_why)];
      }
      for (std::size_t i = at * block; i < std::min((at + 1) * block, q[0].k); ++i) {
        const std::array<std::uint8_t, 2> code{q[0].codes[v * size + i], q[1].codes[v * size + i]};
        const std::array<double, 2> value{decode(a.element, code[0]) * s[0] * g[0],
                                          decode(a.element, code[1]) * s[1] * g[1]};
        out.codes_differ += code[0] != code[1];
        out.values_differ += !(value[0] == value[1]) && !(std::isnan(value[0]) && std::isnan(value[1]));
        if (!two && code[0] == code[1]) continue;
        const float number = in[v * size + i];
        const double magnitude = std::abs(double{number});
        const DifferenceReason why =
            two ? DifferenceReason::scale
                : element_reason(a, scale[0], code[0], code[1], {magnitude / (s[0] * g[0]), magnitude / (s[1] * g[1])});
        ++out.elements_differ;
        ++out.element_reasons[static_cast<std::size_t>(why)];
        if (out.examples.size() < examples) {
          out.examples.push_back({v, i, number, code, scale, value, why, block_why});
        }
      }
    }
  }
  return out;
}

}  // namespace narrowgauge
