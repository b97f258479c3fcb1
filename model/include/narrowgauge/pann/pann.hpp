// SPDX-License-Identifier: Apache-2.0
// PANN: "Energy awareness in low precision neural networks" (arXiv 2202.02783): the unsigned split, which changes no
// result, and the multiplication by repeated addition, which trades accuracy for power along a budget.
// Contract: docs/pann.md, Formulas. RTL twins: rtl/pann/ng_unsigned_mac.sv, ng_pann_mac.sv.
// Energy of all this: power/, docs/pann.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace narrowgauge::pann {

// ---- The unsigned split

/// The two unsigned sums of a dot product: W+ . x and W- . x, with W+ = max(W, 0) and W- = max(-W, 0).
struct SplitSum {
  std::uint64_t positive = 0;
  std::uint64_t negative = 0;
  /// The one subtraction of an output.
  constexpr std::int64_t value() const { return static_cast<std::int64_t>(positive - negative); }
  bool operator==(const SplitSum&) const = default;
};

/// W+ . x and W- . x. Throws Error if the lengths differ or an activation is negative, naming index and value: signed
/// activations do not qualify, see offset_dot.
SplitSum split_dot(std::span<const std::int32_t> x, std::span<const std::int32_t> w);

/// The dot product of signed activations: x + offset is split, and offset * sum(w), a constant of the output, taken
/// off. Throws Error if the lengths differ or some x + offset is negative.
std::int64_t offset_dot(std::span<const std::int32_t> x, std::span<const std::int32_t> w, std::int32_t offset);

// ---- Widths of exact accumulators, in bits. `terms`: products in a sum, 1 or more

/// The paper's: bx + bw + 1 + log2(terms), terms = k^2 * input channels. Not an integer.
double paper_accumulator_width(int x_width, int w_width, std::uint64_t terms);
/// Two's complement operands, the most negative codes included: 1 + ceil(log2(terms * 2^(bx+bw-2) + 1)). The + 1
/// inside matters if terms is a power of two and every product is (-2^(bx-1)) * (-2^(bw-1)).
int signed_accumulator_width(int x_width, int w_width, std::uint64_t terms);
/// One of the split's accumulators: ceil(log2(terms * (2^bx - 1) * (2^bw - 1) + 1)).
int unsigned_accumulator_width(int x_width, int w_width, std::uint64_t terms);
/// One of PANN's: ceil(log2(additions * terms * (2^bx - 1) + 1)), additions = R: all weights of one sign at worst.
int pann_accumulator_width(int x_width, double additions, std::uint64_t terms);

// ---- Quantizers and the repeated addition

struct PannWeights {
  double step = 0;  ///< gamma_w: weight = step * code
  std::vector<std::int32_t> codes;
  /// b_R = 1 + floor(log2(max |code|)): bits of the largest magnitude, without a sign; 0 if all codes are 0.
  int storage_width = 0;
  /// sum |code| / d: R as achieved.
  double additions = 0;
};

/// gamma_w = ||w||_1 / (R d), code = round(w / gamma_w) to nearest even; nothing is clipped. All-zero weights give step
/// 1 and codes 0. Throws Error if w is empty, a weight is not finite, R is not positive, or a code needs over 31 bits.
PannWeights quantize_weights(std::span<const float> w, double additions);

struct PannActivations {
  double step = 0;  ///< gamma_x: activation = step * code
  std::vector<std::int32_t> codes;
};

/// Unsigned uniform quantizer: step = max(x) / (2^bits - 1), code = round(x / step) to nearest even. Throws Error if x
/// is empty or holds a value that is negative or not finite, or bits are not 1 to 16. All zeros give step 1.
PannActivations quantize_activations(std::span<const float> x, int bits);

/// W+ . x and W- . x by additions alone: x[i] is added |w[i]| times to the accumulator of w[i]'s sign. Throws Error as
/// split_dot does.
SplitSum repeated_addition_dot(std::span<const std::int32_t> x, std::span<const std::int32_t> w);

// ---- The budget

/// R = P / bx - 0.5 of the equal-power curve P = (R + 0.5) bx. Not positive if the budget is below bx / 2.
constexpr double budget_additions(double budget, int x_width) { return budget / x_width - 0.5; }
/// P of an unsigned multiply-accumulate of b bits, 0.5 b^2 + 4 b: the budgets of the paper's tables.
constexpr double unsigned_budget(int width) { return 0.5 * width * width + 4.0 * width; }

/// Mean squared error of a dot product in units of d * Mx^2 * Mw^2 / 144, for uniform weights in [-Mw/2, Mw/2] and
/// activations in [0, Mx]; without the cross term.
double pann_error(int x_width, double additions);
/// The error of the regular uniform quantizer, in the units of pann_error(), with steps Mx / 2^bx, Mw / 2^bw.
double uniform_error(int x_width, int w_width);

struct BudgetPoint {
  int x_width = 0;
  double additions = 0;  ///< R asked for
  double loss = 0;
};

struct BudgetSweep {
  std::vector<BudgetPoint> points;  ///< by x_width
  BudgetPoint best;                 ///< least loss; the narrower of equals
};

/// "Algorithm 1": for every x_width from `lowest` to `highest` whose R on the equal-power curve is positive,
/// loss(x_width, R); the best of them. Throws Error if the budget leaves none.
BudgetSweep sweep_budget(double budget, const std::function<double(int, double)>& loss, int lowest = 2,
                         int highest = 8);

/// The loss of Algorithm 1 on tensors: mean squared error of quantized dot products against exact ones, over all pairs
/// of a row of x and a row of w. x: rows of `depth` non-negative activations (quantized together); w: rows of `depth`
/// weights (each with its own step). Throws Error if a size is no multiple of depth, and as the quantizers do.
double dot_error(std::span<const float> x, std::span<const float> w, std::size_t depth, int x_width, double additions);

}  // namespace narrowgauge::pann
