// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/norm/weight_norm.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge {
namespace {

double norm_of(std::span<const float> x) {
  return std::sqrt(
      std::accumulate(x.begin(), x.end(), 0.0, [](double sum, double value) { return sum + value * value; }));
}

double positive_norm(double norm, const std::string& what) {
  if (!std::isfinite(norm) || norm <= 0)
    throw Error("the norm of " + what + " is " + std::to_string(norm) + "; expected a finite number above 0");
  return norm;
}

/// Calls use(row, its norm, the magnitude of its weights); returns |g|, or 0 where g is empty.
double each_row(std::span<const float> v, std::size_t rows, std::span<const float> g, double rho, auto&& use) {
  if (rows == 0 || v.empty() || v.size() % rows != 0) {
    throw Error(std::to_string(v.size()) + " numbers are no " + std::to_string(rows) +
                " rows; expected a multiple of the rows, which are 1 or more");
  }
  if (!g.empty() && g.size() != rows) {
    throw Error(std::to_string(g.size()) + " magnitudes for " + std::to_string(rows) + " rows; expected one for each");
  }
  if (!std::isfinite(rho) || rho <= 0)
    throw Error("rho is " + std::to_string(rho) + "; expected a finite number above 0");
  const double whole = g.empty() ? 0 : positive_norm(norm_of(g), "the magnitudes");
  const std::size_t width = v.size() / rows;
  detail::Pace pace;
  for (std::size_t row = 0; row < rows; ++row) {
    pace(width);
    const double norm = positive_norm(norm_of(v.subspan(row * width, width)), "row " + std::to_string(row));
    use(row, norm, g.empty() ? rho : g[row] * rho / whole);
  }
  return whole;
}

}  // namespace

std::vector<float> bounded_weight_norm(std::span<const float> v, std::size_t rows, std::span<const float> g,
                                       double rho) {
  std::vector<float> weights;
  weights.reserve(v.size());
  each_row(v, rows, g, rho, [&](std::size_t row, double norm, double magnitude) {
    const std::size_t width = v.size() / rows;
    for (const double value : v.subspan(row * width, width)) {
      weights.push_back(static_cast<float>(value / norm * magnitude));
    }
  });
  return weights;
}

WeightNormGradients bounded_weight_norm_backward(std::span<const float> v, std::size_t rows, std::span<const float> g,
                                                 double rho, std::span<const float> weight_gradients) {
  if (weight_gradients.size() != v.size()) {
    throw Error(std::to_string(weight_gradients.size()) + " gradients for " + std::to_string(v.size()) +
                " weights; expected one for each");
  }
  WeightNormGradients gradients;
  gradients.v.reserve(v.size());
  std::vector<double> along;  // the gradient of each row's magnitude
  const double whole = each_row(v, rows, g, rho, [&](std::size_t row, double norm, double magnitude) {
    const std::size_t width = v.size() / rows;
    const auto values = v.subspan(row * width, width), back = weight_gradients.subspan(row * width, width);
    const double product = std::inner_product(values.begin(), values.end(), back.begin(), 0.0) / norm;
    for (std::size_t i = 0; i < width; ++i) {
      gradients.v.push_back(static_cast<float>(magnitude / norm * (back[i] - product * values[i] / norm)));
    }
    along.push_back(product);
  });
  if (g.empty()) return gradients;
  const double common = std::inner_product(g.begin(), g.end(), along.begin(), 0.0) / (whole * whole);
  for (std::size_t row = 0; row < rows; ++row) {
    gradients.g.push_back(static_cast<float>(rho / whole * (along[row] - common * g[row])));
  }
  return gradients;
}

}  // namespace narrowgauge
