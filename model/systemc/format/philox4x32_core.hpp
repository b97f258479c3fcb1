// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/format/ng_philox4x32.sv.
#pragma once

#include "narrowgauge/format/random.hpp"

namespace narrowgauge::systemc {

/// Blocks of a counter, a key and the counters that follow, each in as many cycles as its rounds take, and one in which
/// it is offered. Outputs are functions of the state; step() is a clock edge.
template <int rounds_per_cycle>
class Philox4x32Core {
  static_assert(rounds_per_cycle > 0 && narrowgauge::Philox4x32::rounds % rounds_per_cycle == 0,
                "Philox4x32Core: the rounds of a cycle must divide 10");

 public:
  void reset() { *this = {}; }

  bool ready() const { return !valid_; }
  bool valid() const { return valid_; }
  /// Beside valid() the block, else what the last step made.
  const narrowgauge::Philox4x32::Counter& random() const { return words_; }
  const narrowgauge::Philox4x32::Counter& counter() const { return counter_; }
  const narrowgauge::Philox4x32::Key& key() const { return key_; }

  /// valid: counter and key are offered. ready: ready_i.
  void step(bool valid, const narrowgauge::Philox4x32::Counter& counter, const narrowgauge::Philox4x32::Key& key,
            bool ready) {
    if (valid && !valid_) {
      counter_ = counter;
      key_ = key;
      rounds_ = 0;
      running_ = true;
    } else if (valid_) {
      if (!ready) return;
      counter_ = narrowgauge::Philox4x32::next(counter_);
      rounds_ = 0;
      valid_ = false;
    } else if (running_) {
      rounds_ += rounds_per_cycle;
      words_ = narrowgauge::Philox4x32::after(counter_, key_, rounds_);
      valid_ = rounds_ == narrowgauge::Philox4x32::rounds;
    }
  }

 private:
  narrowgauge::Philox4x32::Counter counter_{}, words_{};
  narrowgauge::Philox4x32::Key key_{};
  int rounds_ = 0;  ///< made of this block
  bool running_ = false, valid_ = false;
};

}  // namespace narrowgauge::systemc
