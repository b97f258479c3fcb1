// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/mac/ng_exact_acc.sv.
#pragma once

#include <cstdint>
#include <type_traits>

#include "narrowgauge/mac/fixed_to_fp32.hpp"

namespace narrowgauge::systemc {

/// Exact accumulator of `acc_width` bits, 2 to 128, which wraps beyond them as the hardware's does. Outputs are
/// functions of the state; step() is a clock edge. split: what the outputs show is a clock older, as with the parameter
/// Split of the RTL, whatever bit it names.
template <int acc_width, bool split = false>
class ExactAccCore {
  static_assert(acc_width >= 2 && acc_width <= 128, "ExactAccCore: acc_width must be 2 to 128");
  using Unsigned = std::conditional_t<(acc_width > 64), unsigned __int128, std::uint64_t>;

 public:
  using Value = std::conditional_t<(acc_width > 64), __int128, std::int64_t>;

  void reset() { *this = {}; }

  Value acc() const {
    constexpr int unused = static_cast<int>(sizeof(Value)) * 8 - acc_width;
    return static_cast<Value>((split ? old_sum_ : sum_) << unused) >> unused;
  }
  const SumFlags& flags() const { return split ? old_flags_ : flags_; }

  void step(bool valid, bool first, Value term, const SumFlags& flags) {
    if constexpr (split) {
      old_sum_ = sum_;
      old_flags_ = flags_;
    }
    if (!valid) return;
    if (first) {
      sum_ = 0;
      flags_ = {};
    }
    sum_ += static_cast<Unsigned>(term);
    flags_ |= flags;
  }

 private:
  Unsigned sum_ = 0, old_sum_ = 0;
  SumFlags flags_, old_flags_;
};

}  // namespace narrowgauge::systemc
