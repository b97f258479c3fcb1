// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/codec/ng_zero_expand.sv.
#pragma once

#include <array>
#include <cstdint>

#include "narrowgauge/codec/zero_runs.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge. The table is not reset.
class ZeroExpandCore {
 public:
  struct Beat {
    std::uint8_t value = 0;
    bool last = false, fault = false, empty = false;
  };

  void reset() {
    values_.reset();
    left_ = 0;
  }

  bool ready() const { return values_.ready() && left_ == 0; }
  bool valid() const { return values_.valid(); }
  const Beat& beat() const { return values_.data(); }

  /// An access of the table's port.
  void load(unsigned address, std::uint8_t data) {
    if (address == 0) {
      longest_ = data % (zero_run_sizes + 1);
    } else {
      bytes_of_[address] = data;
    }
  }

  /// `beat`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Beat* beat, bool ready) {
    const bool move = values_.ready();
    Beat out;
    bool put = false;
    if (left_ > 0) {
      put = true;
      out = end_;
    } else if (beat) {
      put = true;
      out = *beat;
      for (unsigned i = 1; i <= longest_; ++i) {
        if (beat->value != bytes_of_[i]) continue;
        if (move) left_ = 1U << i;
        out.value = 0;
        end_ = {0, beat->last, beat->fault, false};
        out.last = out.fault = false;
        break;
      }
    }
    if (move && left_ > 0) --left_;
    if (left_ > 0) out.last = out.fault = false;
    values_.step(put ? &out : nullptr, ready);
  }

 private:
  Fifo2Core<Beat> values_;
  Beat end_;  ///< the last zero of the run
  std::array<std::uint8_t, zero_run_sizes + 1> bytes_of_{};
  unsigned longest_ = 0, left_ = 0;  ///< zeros that are to come
};

}  // namespace narrowgauge::systemc
