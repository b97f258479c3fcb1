// SPDX-License-Identifier: Apache-2.0
// A step of Adam on a whole tensor: the rule of fp8_adam.hpp, bit for bit, by the processor's own floats and on several
// threads. New scales may be measured on the way, so that one pass over the tensor is enough.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "narrowgauge/quant/fp8_adam.hpp"

namespace narrowgauge {

/// What a step reads, of one length; gradient and weight are codes of FP32, m and v of E4M3 and E5M2.
struct Fp8AdamTensor {
  std::span<const std::uint32_t> gradient, weight;
  std::span<const std::uint8_t> m, v;
};

/// What it writes, of the same length.
struct Fp8AdamNewTensor {
  std::span<std::uint32_t> weight;
  std::span<std::uint8_t> m, v;
  std::span<std::uint32_t> m_fp32, v_fp32;  ///< the moments before they were rounded to FP8
};

struct Fp8AdamAllOptions {
  bool floor = true;       ///< of second moments (fp8_adam_floor)
  int random_bits = 0;     ///< 0: moments to nearest even; else stochastic; element i takes fields 2 i and 2 i + 1
  std::uint64_t seed = 0;  ///< of Philox4x32-10
  bool measure_scales =
      false;             ///< new scales are those of the new moments: the largest number of the format over theirs
  unsigned threads = 1;  ///< 0: one per core
};

/// Scales of the new codes.
struct Fp8AdamScales {
  float m = 1, v = 1;
};

/// Returns the scales that it took: those of the step, or the measured ones.
/// Throws Error where lengths differ.
Fp8AdamScales fp8_adam_all(const Fp8AdamStep& step, const Fp8AdamTensor& old, const Fp8AdamNewTensor& next,
                           const Fp8AdamAllOptions& options = {});

}  // namespace narrowgauge
