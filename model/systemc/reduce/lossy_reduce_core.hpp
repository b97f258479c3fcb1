// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/reduce/ng_lossy_reduce.sv.
#pragma once

#include <cstddef>
#include <cstdint>

#include "narrowgauge/reduce/lossy_reduce.hpp"

namespace narrowgauge::systemc {

/// Packets of `values` numbers, `indices` of each of `workers` workers. Outputs are functions of the state; step() is a
/// clock edge.
template <int workers, int values, int indices>
class LossyReduceCore {
 public:
  /// A mean, and what leaves with it.
  struct Result {
    std::uint16_t mean = 0;
    std::uint8_t count = 0;
    bool last = false;
  };

  void reset() { *this = {}; }

  bool ready() const { return wait_ == 0 && !mean_; }
  bool valid() const { return valid_; }
  /// The mean that is offered; meaningful only while valid().
  const Result& result() const { return result_; }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, std::size_t worker, std::size_t index, bool close, std::uint16_t value, bool ready) {
    const bool push = mean_ && step_ == last_step && !valid_;
    valid_ = (valid_ && !ready) || push;
    if (wait_ > 0) {
      --wait_;
      mean_ = wait_ == 0 && divides_;
    } else if (mean_) {
      if (!push) {
        if (step_ < last_step) ++step_;
        return;
      }
      step_ = 0;
      result_.mean = sums_.mean(index_, number_);
      result_.count = static_cast<std::uint8_t>(sums_.count(index_));
      result_.last = next();
      mean_ = !result_.last;
      if (!mean_) sums_.close(index_);
    } else if (valid) {
      if (number_ == 0) {
        index_ = index;
        divides_ = close;
        if (close) {
          wait_ = static_cast<std::size_t>(25 + count_reciprocal(sums_.count(index)).exponent);
          return;
        }
        adds_ = sums_.arrives(worker, index);
      }
      if (adds_) sums_.add(index_, number_, value);
      next();
    }
  }

 private:
  static constexpr std::size_t last_step = 44;

  /// To the next number; whether the last one is behind.
  bool next() {
    number_ = (number_ + 1) % values;
    return number_ == 0;
  }

  LossyReducer sums_{workers, values, indices};
  std::size_t wait_ = std::size_t{16} * values * indices;  ///< cycles until the memory is cleared, or 1/count is found
  bool divides_ = false;                                   ///< what comes after these are means
  bool mean_ = false;
  std::size_t index_ = 0, number_ = 0, step_ = 0;
  bool adds_ = false;  ///< the packet's values are added
  bool valid_ = false;
  Result result_;
};

}  // namespace narrowgauge::systemc
