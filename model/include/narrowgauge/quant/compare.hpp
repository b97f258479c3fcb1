// SPDX-License-Identifier: Apache-2.0
// What two dialects do differently to one matrix, and why (docs/dialects.md, Differences).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "narrowgauge/quant/dialect.hpp"

namespace narrowgauge {

/// Why a block has two scales, or an element two codes.
enum class DifferenceReason : std::uint8_t {
  scale,   ///< elements: its block has two scales
  tie,     ///< what is rounded lies at a decision point, up to 2^-18 of it: roundings before decide
  clamp,   ///< beyond the largest code, or below the smallest scale, of one of the two
  zero,    ///< the scale rounds to 0, or the codes are zeros of two signs
  search,  ///< one maps the block's maximum to 4
  rule,    ///< two bounds, maxima, power rules, shapes, roundings or points: another scale or code by definition
};
inline constexpr std::array<std::string_view, 6> difference_reasons{"scale", "tie", "clamp", "zero", "search", "rule"};

struct DialectDifference {
  struct Example {
    std::size_t vector, element;
    float x;  ///< after the front stage
    std::array<std::uint8_t, 2> code, scale;
    std::array<double, 2> value;
    DifferenceReason why;        ///< of the element
    DifferenceReason block_why;  ///< of its block, where that has two scales
  };
  std::size_t elements = 0, blocks = 0;
  std::array<float, 2> tensor_scale{};
  std::size_t blocks_differ = 0;                                  ///< in their scale's code
  std::size_t elements_differ = 0;                                ///< in their code, or in their block's scale
  std::size_t codes_differ = 0;                                   ///< in their code
  std::size_t values_differ = 0;                                  ///< in what they are decoded to
  std::array<std::size_t, 6> block_reasons{}, element_reasons{};  ///< by DifferenceReason
  std::vector<Example> examples;                                  ///< the first ones
};

/// Quantizes by both and compares. The two have the same block size and front stage; throws Error otherwise, and as
/// quantize() does. `inputs` is for both.
DialectDifference compare(std::span<const float> x, std::size_t rows, std::size_t cols, Axis along, const Dialect& a,
                          const Dialect& b, const DialectInputs& inputs, std::size_t examples = 10);

}  // namespace narrowgauge
