// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/prim/ng_fifo2.sv.
#pragma once

namespace narrowgauge::systemc {

/// Queue of two words of type T. Outputs are functions of the state; step() is a clock edge.
template <class T>
class Fifo2Core {
 public:
  void reset() { valid_ = full_ = false; }

  bool ready() const { return !full_; }
  bool valid() const { return valid_; }
  const T& data() const { return head_; }

  /// `data`: the word offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const T* data, bool ready) {
    const bool push = data && !full_, pop = valid_ && ready;
    if (full_ && pop) {
      head_ = tail_;
    } else if (push && (pop || !valid_)) {
      head_ = *data;
    } else if (push) {
      tail_ = *data;
    }
    const bool keep = valid_ && !ready;
    valid_ = push || full_ || keep;
    full_ = (full_ || push) && keep;
  }

 private:
  T head_{}, tail_{};
  bool valid_ = false, full_ = false;
};

}  // namespace narrowgauge::systemc
