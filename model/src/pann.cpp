// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/pann/pann.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "narrowgauge/require.hpp"

namespace narrowgauge::pann {
namespace {

using detail::require;

void require_widths(const char* what, int x_width, int w_width, std::uint64_t terms) {
  require(x_width >= 1 && x_width <= 16 && w_width >= 1 && w_width <= 16, [&] {
    return std::string(what) + ": widths are " + std::to_string(x_width) + " and " + std::to_string(w_width) +
           "; expected 1 to 16";
  });
  require(terms >= 1 && terms <= std::uint64_t{1} << 31,
          [&] { return std::string(what) + ": " + std::to_string(terms) + " terms; expected 1 to 2^31"; });
}

void require_equal(const char* what, std::size_t x, std::size_t w) {
  require(x == w, [&] {
    return std::string(what) + ": x has " + std::to_string(x) + " elements and w has " + std::to_string(w) +
           "; expected equal lengths";
  });
}

/// Adds what one element brings to the sum of its weight's sign.
template <class Add>
SplitSum split(const char* what, std::span<const std::int32_t> x, std::span<const std::int32_t> w, Add&& add) {
  require_equal(what, x.size(), w.size());
  SplitSum sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    require(x[i] >= 0, [&] {
      return std::string(what) + ": activation " + std::to_string(i) + " is " + std::to_string(x[i]) +
             "; the unsigned split needs activations of 0 or more: add an offset (offset_dot) or keep "
             "signed products";
    });
    add(w[i] < 0 ? sum.negative : sum.positive, static_cast<std::uint64_t>(x[i]),
        static_cast<std::uint64_t>(std::abs(std::int64_t{w[i]})));
  }
  return sum;
}

}  // namespace

SplitSum split_dot(std::span<const std::int32_t> x, std::span<const std::int32_t> w) {
  return split("split_dot", x, w,
               [](std::uint64_t& sum, std::uint64_t value, std::uint64_t times) { sum += value * times; });
}

SplitSum repeated_addition_dot(std::span<const std::int32_t> x, std::span<const std::int32_t> w) {
  return split("repeated_addition_dot", x, w, [](std::uint64_t& sum, std::uint64_t value, std::uint64_t times) {
    for (; times > 0; --times) sum += value;
  });
}

std::int64_t offset_dot(std::span<const std::int32_t> x, std::span<const std::int32_t> w, std::int32_t offset) {
  require_equal("offset_dot", x.size(), w.size());
  SplitSum sum;
  std::int64_t weights = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t shifted = std::int64_t{x[i]} + offset;
    require(shifted >= 0, [&] {
      return "offset_dot: activation " + std::to_string(i) + " is " + std::to_string(x[i]) + ", which offset " +
             std::to_string(offset) + " leaves negative; expected an offset of " + std::to_string(-std::int64_t{x[i]}) +
             " or more";
    });
    (w[i] < 0 ? sum.negative : sum.positive) += static_cast<std::uint64_t>(shifted * std::abs(std::int64_t{w[i]}));
    weights += w[i];
  }
  return sum.value() - offset * weights;
}

double paper_accumulator_width(int x_width, int w_width, std::uint64_t terms) {
  require_widths("paper_accumulator_width", x_width, w_width, terms);
  return x_width + w_width + 1 + std::log2(static_cast<double>(terms));
}

int signed_accumulator_width(int x_width, int w_width, std::uint64_t terms) {
  require_widths("signed_accumulator_width", x_width, w_width, terms);
  return 1 + std::bit_width(terms << (x_width + w_width - 2));
}

int unsigned_accumulator_width(int x_width, int w_width, std::uint64_t terms) {
  require_widths("unsigned_accumulator_width", x_width, w_width, terms);
  return std::bit_width(terms * ((std::uint64_t{1} << x_width) - 1) * ((std::uint64_t{1} << w_width) - 1));
}

int pann_accumulator_width(int x_width, double additions, std::uint64_t terms) {
  require_widths("pann_accumulator_width", x_width, 1, terms);
  require(additions > 0 && additions <= 65536, [&] {
    return "pann_accumulator_width: " + std::to_string(additions) + " additions; expected more than 0, up to 65536";
  });
  const double most = additions * static_cast<double>(terms) * ((1 << x_width) - 1);
  return static_cast<int>(std::ceil(std::log2(most + 1)));
}

PannWeights quantize_weights(std::span<const float> w, double additions) {
  require(!w.empty(), [] { return "quantize_weights: no weights; expected one or more"; });
  require(additions > 0 && std::isfinite(additions), [&] {
    return "quantize_weights: " + std::to_string(additions) + " additions a weight; expected more than 0";
  });
  double norm = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    require(std::isfinite(w[i]), [&] { return "quantize_weights: weight " + std::to_string(i) + " is not finite"; });
    norm += std::abs(double{w[i]});
  }
  PannWeights result;
  result.step = norm > 0 ? norm / (additions * static_cast<double>(w.size())) : 1;
  result.codes.reserve(w.size());
  std::uint64_t sum = 0, largest = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double code = std::nearbyint(w[i] / result.step);
    require(std::abs(code) < 0x1p31, [&] {
      return "quantize_weights: weight " + std::to_string(i) + " is " + std::to_string(w[i]) + ", over 2^31 steps of " +
             std::to_string(result.step) + "; expected fewer additions or fewer outliers";
    });
    result.codes.push_back(static_cast<std::int32_t>(code));
    const auto magnitude = static_cast<std::uint64_t>(std::abs(code));
    sum += magnitude;
    largest = std::max(largest, magnitude);
  }
  result.storage_width = std::bit_width(largest);
  result.additions = static_cast<double>(sum) / static_cast<double>(w.size());
  return result;
}

PannActivations quantize_activations(std::span<const float> x, int bits) {
  require(!x.empty(), [&] { return "quantize_activations: no activations; expected one or more"; });
  require(bits >= 1 && bits <= 16,
          [&] { return "quantize_activations: " + std::to_string(bits) + " bits; expected 1 to 16"; });
  float largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    require(x[i] >= 0 && std::isfinite(x[i]), [&] {
      return "quantize_activations: activation " + std::to_string(i) + " is " + std::to_string(x[i]) +
             "; expected finite values of 0 or more";
    });
    largest = std::max(largest, x[i]);
  }
  PannActivations result;
  result.step = largest > 0 ? double{largest} / ((1 << bits) - 1) : 1;
  result.codes.reserve(x.size());
  for (const float value : x) result.codes.push_back(static_cast<std::int32_t>(std::nearbyint(value / result.step)));
  return result;
}

double pann_error(int x_width, double additions) { return std::exp2(-2 * x_width) + 0.25 / (additions * additions); }

double uniform_error(int x_width, int w_width) { return std::exp2(-2 * x_width) + 4 * std::exp2(-2 * w_width); }

BudgetSweep sweep_budget(double budget, const std::function<double(int, double)>& loss, int lowest, int highest) {
  BudgetSweep sweep;
  for (int x_width = lowest; x_width <= highest; ++x_width) {
    const double additions = budget_additions(budget, x_width);
    if (additions <= 0) continue;
    sweep.points.push_back({.x_width = x_width, .additions = additions, .loss = loss(x_width, additions)});
  }
  require(!sweep.points.empty(), [&] {
    return "sweep_budget: a budget of " + std::to_string(budget) + " flips leaves no addition to activations of " +
           std::to_string(lowest) + " to " + std::to_string(highest) +
           " bits; expected more than half the narrowest width";
  });
  sweep.best = *std::min_element(sweep.points.begin(), sweep.points.end(),
                                 [](const BudgetPoint& a, const BudgetPoint& b) { return a.loss < b.loss; });
  return sweep;
}

double dot_error(std::span<const float> x, std::span<const float> w, std::size_t depth, int x_width, double additions) {
  require(depth > 0 && !x.empty() && !w.empty() && x.size() % depth == 0 && w.size() % depth == 0, [&] {
    return "dot_error: x has " + std::to_string(x.size()) + " elements, w has " + std::to_string(w.size()) +
           "; expected multiples of the depth " + std::to_string(depth);
  });
  const PannActivations xq = quantize_activations(x, x_width);
  double sum = 0;
  for (std::size_t row = 0; row < w.size(); row += depth) {
    const PannWeights wq = quantize_weights(w.subspan(row, depth), additions);
    for (std::size_t sample = 0; sample < x.size(); sample += depth) {
      double exact = 0;
      for (std::size_t i = 0; i < depth; ++i) exact += double{x[sample + i]} * w[row + i];
      const SplitSum split = split_dot(std::span(xq.codes).subspan(sample, depth), wq.codes);
      const double error = xq.step * wq.step * static_cast<double>(split.value()) - exact;
      sum += error * error;
    }
  }
  return sum / (static_cast<double>(w.size() / depth) * static_cast<double>(x.size() / depth));
}

}  // namespace narrowgauge::pann
