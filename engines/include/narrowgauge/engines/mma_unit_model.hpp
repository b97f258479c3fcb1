// SPDX-License-Identifier: Apache-2.0
// A simulated unit that does a step of a matrix instruction for one output (rtl/mac/ng_mma_*.sv), with all its cuts.
#pragma once

#include <array>
#include <cstdint>

namespace narrowgauge {

/// D = A x B + C: 256 bits of codes a side, lane 0 in the low bits, with what its formats need.
struct MmaStep {
  std::array<std::uint32_t, 8> a{}, b{};
  std::uint32_t a_scales = 0, b_scales = 0;  ///< block scales, those of the lowest lanes in the low bits
  std::uint8_t a_format = 0, b_format = 0;   ///< elements, as mx_port() numbers them
  std::uint32_t c = 0;                       ///< FP32
};

class MmaUnitModel {
 public:
  virtual ~MmaUnitModel() = default;
  /// Clock edges from a step to its D.
  virtual unsigned registers() const = 0;
  /// A clock edge with this step at the inputs: the D behind it, FP32, of the step registers() - 1 calls before.
  virtual std::uint32_t cycle(const MmaStep& step) = 0;
};

/// The entry of a unit's library.
using MakeMmaUnit = MmaUnitModel*();

}  // namespace narrowgauge
