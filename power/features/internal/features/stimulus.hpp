// SPDX-License-Identifier: Apache-2.0
// Stimuli of the energy units: what the input ports of an entry of power/units.json see, cycle by cycle.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace narrowgauge::power {

/// A float matrix, row-major.
struct Tensor {
  std::size_t rows = 0, cols = 0;
  std::vector<float> values;
};

/// What to make. `a` (M x K) and `b` (K x N) are the operands of the stimulus that has its own tensors, else empty.
struct StimulusOptions {
  std::string stimulus = "uniform";  ///< uniform, gauss, half_normal, relu, or any other name with tensors a and b
  std::uint64_t seed = 1;
  std::size_t cycles = 2064;
  Tensor a, b;
};

/// The text of a .stim file for a unit, an entry of power/units.json.
///
/// Operands stream in the order of an output-stationary matrix product: k runs, lanes at a time, and after each whole
/// contraction (256 products, or K of the tensors) comes another output, drawn at random. Values: `uniform`, every
/// finite code equally likely, block scales the codes of 0.5 to 2; `gauss`, N(0, 1) through the project's quantizers,
/// integers round(x (2^(w-1) - 1) / 3) clipped; `half_normal`, |N(0, 1)| for unsigned integers, scaled by 2^w - 1, and
/// gauss for signed ones; with tensors, these through the quantizers, integers scaled so that the largest magnitude is
/// the largest code, unsigned ones by magnitude. BF16, FP16, TF32 and FP32 are rounded to nearest even.
///
/// Units of the unsigned split (a schedule other than plain) get weights as sign and magnitude of b_width bits, in the
/// schedule's order; with repeated addition (structure none) N(0, 1) weights through PANN's quantizer, elements for as
/// long as ng_pann_mac needs.
///
/// Units of the codec see a feature map in `relu` (codec_stimulus.hpp).
///
/// An input with "hold" h stays for h cycles, the first for one: a unit that takes a pair in h cycles takes it at once.
///
/// Throws Error on an entry or an input that is not understood, on a stimulus that its operands cannot have.
std::string make_stimulus(const nlohmann::json& unit, const StimulusOptions& options);

}  // namespace narrowgauge::power
