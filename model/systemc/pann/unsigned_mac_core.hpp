// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/pann/ng_unsigned_mac.sv.
#pragma once

#include <cstdint>

namespace narrowgauge::systemc {

/// Difference of two unsigned sums, a signed number modulo 2^width; width 1 to 64.
template <int width>
class SplitSum {
  static_assert(width >= 1 && width <= 64, "SplitSum: width must be 1 to 64");

 public:
  void clear() { difference_ = 0; }
  void add(bool negative, std::uint64_t term) { difference_ += negative ? -term : term; }
  std::int64_t value() const { return static_cast<std::int64_t>(difference_ << (64 - width)) >> (64 - width); }

 private:
  std::uint64_t difference_ = 0;
};

/// Multiply-accumulate of the unsigned split. `sorted`: once an output is negative it stays so. Outputs are functions
/// of the state; step() is a clock edge.
template <int acc_width, bool sorted>
class UnsignedMacCore {
 public:
  void reset() { *this = {}; }

  bool valid() const { return valid_; }
  std::int64_t result() const { return valid_ ? sum_.value() : 0; }

  void step(bool valid, bool first, bool last, std::uint32_t x, std::uint32_t w, bool negative) {
    valid_ = valid && last;
    if (!valid) return;
    if (first) {
      sum_.clear();
      minus_ = false;
    }
    minus_ = negative || (sorted && minus_);
    sum_.add(minus_, std::uint64_t{x} * w);
  }

 private:
  SplitSum<acc_width> sum_;
  bool minus_ = false, valid_ = false;
};

}  // namespace narrowgauge::systemc
