// SPDX-License-Identifier: Apache-2.0
// Mode `pann_paper`: the power model of "Energy awareness in low precision neural networks" (arXiv 2202.02783), as
// docs/pann.md, Formulas, gives it. Power is the mean number of bits that flip in one multiply-accumulate; static power
// is left out. b: bits of an operand, B: bits of the accumulator (the paper's and exact ones:
// narrowgauge/pann/pann.hpp). Where gates differ from this model is a matter of the refined mode, not of this one.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace narrowgauge::power::paper {

/// Mean flips of one multiply-accumulate, by place.
struct MacFlips {
  double multiplier_inputs = 0;     ///< 0.5 b_w + 0.5 b_x
  double multiplier_internal = 0;   ///< 0.5 max(b_w, b_x)^2: the wider operand decides ("Observation 2")
  double accumulator_input = 0;     ///< the product: sign-extended to B bits, 0.5 B; unsigned, 0.5 (b_w + b_x)
  double accumulator_sum = 0;       ///< adder output, 0.5 (b_w + b_x)
  double accumulator_register = 0;  ///< flip-flops, the same

  constexpr double multiplier() const { return multiplier_inputs + multiplier_internal; }
  constexpr double accumulator() const { return accumulator_input + accumulator_sum + accumulator_register; }
  constexpr double total() const { return multiplier() + accumulator(); }
  /// The share of the flips at the accumulator's input, 0 to 1.
  constexpr double accumulator_input_share() const { return accumulator_input / total(); }
};

/// P_mult(b_w, b_x) = 0.5 max(b_w, b_x)^2 + 0.5 (b_w + b_x), signed or not.
constexpr double multiplier_flips(double weight_bits, double activation_bits) {
  const double wider = std::max(weight_bits, activation_bits);
  return 0.5 * wider * wider + 0.5 * (weight_bits + activation_bits);
}

/// Signed multiply-accumulate into `accumulator_bits`. Equal widths b: 0.5 b^2 + 3 b + 0.5 B. The paper states the
/// accumulator for equal widths; for mixed ones its b_acc = 2 b is taken as b_w + b_x, the width of the product.
constexpr MacFlips signed_mac(double weight_bits, double activation_bits, double accumulator_bits) {
  const double half_product = 0.5 * (weight_bits + activation_bits);
  return {half_product, multiplier_flips(weight_bits, activation_bits) - half_product, 0.5 * accumulator_bits,
          half_product, half_product};
}

/// The flips with both operands unsigned: 0.5 b^2 + 4 b for equal widths, whatever the accumulator's width.
constexpr MacFlips unsigned_mac(double weight_bits, double activation_bits) {
  return signed_mac(weight_bits, activation_bits, weight_bits + activation_bits);
}

/// What the unsigned split saves, 0 to 1: 1 - P_unsigned(b) / P_signed(b, B).
constexpr double unsigned_saving(double bits, double accumulator_bits) {
  return 1 - unsigned_mac(bits, bits).total() / signed_mac(bits, bits, accumulator_bits).total();
}

/// P_PANN = (R + 0.5) b_x: a weight element as R repeated additions of an activation, no multiplier. The R of a budget
/// is narrowgauge::pann::budget_additions.
constexpr double pann_flips(double activation_bits, double additions) { return (additions + 0.5) * activation_bits; }

/// Networks of the paper's tables: multiply-accumulates of one 224 x 224 image.
struct Network {
  std::string_view name;
  double macs;
};
inline constexpr std::array<Network, 4> networks = {
    {{"resnet50", 4.089e9}, {"resnet18", 1.814e9}, {"mobilenet_v2", 0.3008e9}, {"vgg16", 15.47e9}}};

}  // namespace narrowgauge::power::paper
