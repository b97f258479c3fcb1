// SPDX-License-Identifier: Apache-2.0
// The accuracy proxy: what a format does to a matrix product.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/power/explore/explore.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace narrowgauge::power {
namespace {

std::vector<double> product(const Tensors& t, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> c(t.m * t.n);
  for (std::size_t i = 0; i < t.m; ++i) {
    for (std::size_t k = 0; k < t.k; ++k) {
      const double x = a[i * t.k + k];
      for (std::size_t j = 0; j < t.n; ++j) c[i * t.n + j] += x * b[k * t.n + j];
    }
  }
  return c;
}

// Of each four successive units of a column, elements or pairs, the two smaller ones are dropped; of equal ones the
// later.
std::vector<float> pruned(const Tensors& t, Sparsity sparsity) {
  const std::size_t unit = sparsity == Sparsity::four_eight_pair ? 2 : 1;
  std::vector<float> b = t.b;
  for (std::size_t j = 0; j < t.n; ++j) {
    for (std::size_t k = 0; k < t.k; k += 4 * unit) {
      const std::size_t units = (std::min(4 * unit, t.k - k) + unit - 1) / unit;
      std::array<double, 4> size{};
      const auto each = [&](std::size_t u, auto act) {
        for (std::size_t i = k + u * unit; i < std::min(k + (u + 1) * unit, t.k); ++i) act(b[i * t.n + j]);
      };
      for (std::size_t u = 0; u < units; ++u) each(u, [&](float v) { size[u] += std::abs(static_cast<double>(v)); });
      std::array<std::size_t, 4> order{0, 1, 2, 3};
      std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(units),
                       [&](std::size_t x, std::size_t y) { return size[x] > size[y]; });
      for (std::size_t i = 2; i < units; ++i) each(order[i], [](float& v) { v = 0; });
    }
  }
  return b;
}

void round_to_integers(std::vector<float>& x, int width) {
  float most = 0;
  for (const float v : x) most = std::max(most, std::abs(v));
  if (most == 0) return;
  const float step = most / static_cast<float>((1 << (width - 1)) - 1);
  for (float& v : x) v = std::nearbyint(v / step) * step;
}

void round_to(std::vector<float>& x, Format format) {
  for (float& v : x) v = static_cast<float>(decode(format, encode(format, v)));
}

}  // namespace

Tensors normal_tensors(std::size_t m, std::size_t n, std::size_t k, unsigned seed) {
  Tensors t{m, n, k, std::vector<float>(m * k), std::vector<float>(k * n)};
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  for (float& x : t.a) x = normal(generator);
  for (float& x : t.b) x = normal(generator);
  return t;
}

double sqnr_db(const Tensors& t, const NumberFormat& format, Sparsity sparsity) {
  const std::vector<double> reference = product(t, t.a, t.b);
  std::vector<float> a = t.a, b = sparsity != Sparsity::none ? pruned(t, sparsity) : t.b;
  std::vector<double> c;
  switch (format.mac) {
    case MacFormat::nvfp4:
    case MacFormat::mxfp4:
    case MacFormat::fp8_e4m3:
    case MacFormat::fp8_e5m2:
    case MacFormat::fp4_e3m0: {
      const GemmFormat& gemm = find_gemm_format(format.name);
      const QuantizedMatrix qa = quantize(a, t.m, t.k, Axis::rows, {.scheme = gemm.a_scheme(), .element = gemm.a});
      const QuantizedMatrix qb = quantize(b, t.k, t.n, Axis::columns, {.scheme = gemm.scheme, .element = gemm.b});
      const std::vector<float> result = narrowgauge::gemm(qa, qb);
      c.assign(result.begin(), result.end());
      break;
    }
    case MacFormat::integer:
      round_to_integers(a, format.width);
      round_to_integers(b, format.width);
      c = product(t, a, b);
      break;
    case MacFormat::bf16:
    case MacFormat::fp16:
    case MacFormat::tf32:
    case MacFormat::fp4_e2m1:
      for (auto* x : {&a, &b}) round_to(*x, find_format(format.name));
      c = product(t, a, b);
      break;
    case MacFormat::fp32:
      c = product(t, a, b);
      break;
  }
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    signal += reference[i] * reference[i];
    noise += (c[i] - reference[i]) * (c[i] - reference[i]);
  }
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

}  // namespace narrowgauge::power
