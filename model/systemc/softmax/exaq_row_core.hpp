// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/softmax/ng_exaq_row.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "narrowgauge/softmax/exaq.hpp"

namespace narrowgauge::systemc {

/// A row at a time. Outputs are functions of the state; step() is a clock edge.
template <int bits, int count_bits>
class ExaqRowCore {
 public:
  static constexpr std::size_t codes = std::size_t{1} << bits;
  using Counts = std::array<std::uint32_t, codes>;
  using Table = std::array<std::uint16_t, codes>;

  void reset() { *this = {}; }

  /// The counts are taken, in the last cycle in which they are needed.
  bool ready() const { return summing_ == count_bits * static_cast<int>(codes) - 1; }
  bool valid() const { return giving_ && to_go_ == 0; }
  /// Probability and code that are offered; meaningful only while valid().
  std::uint32_t probability() const { return exaq_probability(exponential_, sum_); }
  std::uint32_t code() const { return code_; }
  bool last() const { return code_ == 0; }
  /// S of the row; meaningful only while valid().
  std::uint32_t sum() const { return sum_; }
  bool empty() const { return sum_ == 0; }

  /// valid: a row's counts are offered. ready: ready_i.
  void step(bool valid, const Counts& counts, const Table& table, bool ready) {
    if (!giving_) {
      if (!valid) return;
      if (this->ready()) {
        sum_ = exaq_row_sum(counts, table);
        giving_ = true;
        summing_ = 0;
        begin(codes - 1, table);
      } else {
        ++summing_;
      }
    } else if (to_go_ > 0) {
      --to_go_;
    } else if (ready) {
      giving_ = code_ != 0;
      if (giving_) begin(code_ - 1, table);
    }
  }

 private:
  /// Edges until the quotient of the code is there: one that loads it, and a step for each bit from 2^0 on.
  void begin(std::size_t code, const Table& table) {
    code_ = static_cast<std::uint32_t>(code);
    exponential_ = table[code];
    to_go_ = 1;
    if (exponential_ == 0 || sum_ == 0) return;
    int zeros = 0;
    while (std::uint64_t{exponential_} << zeros < sum_) ++zeros;
    to_go_ += zeros == 0 ? 1 : zeros + 25;
  }

  int summing_ = 0, to_go_ = 0;
  bool giving_ = false;
  std::uint32_t sum_ = 0, code_ = codes - 1;
  std::uint16_t exponential_ = 0;
};

}  // namespace narrowgauge::systemc
