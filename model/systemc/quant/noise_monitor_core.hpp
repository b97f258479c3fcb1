// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/quant/ng_noise_monitor.sv.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "narrowgauge/quant/noise_monitor.hpp"
#include "systemc/mac/exact_acc_core.hpp"

namespace narrowgauge::systemc {

struct NoiseMonitorParams {
  int lanes, frac_bits, count_bits;
  constexpr int width() const { return frac_bits + 3; }
  constexpr int acc_width() const {
    return 2 * frac_bits + 7 + std::bit_width(static_cast<unsigned>(lanes - 1)) + 36 + count_bits;
  }
};

/// The excess of a tensor's noise, two edges after each block. Outputs are
/// functions of the state; step() is a clock edge.
template <NoiseMonitorParams params>
class NoiseMonitorCore {
 public:
  using Sum = ExactAccCore<params.acc_width()>;
  using Magnitudes = std::array<std::uint32_t, static_cast<std::size_t>(params.lanes)>;

  void reset() { *this = {}; }

  typename Sum::Value excess() const { return sum_.acc(); }
  bool noisy() const { return excess() > 0; }

  void step(bool valid, bool first, const Magnitudes &magnitudes, std::uint32_t scale) {
    sum_.step(valid_, first_, block_, {});
    valid_ = valid;
    if (!valid) return;
    first_ = first;
    block_ = noise_excess(magnitudes, scale, params.frac_bits);
  }

 private:
  Sum sum_;
  std::int64_t block_ = 0;  ///< of the block taken last
  bool valid_ = false, first_ = false;
};

}  // namespace narrowgauge::systemc
