// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/codec/ng_zero_runs.sv.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "narrowgauge/codec/zero_runs.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge. The table is not reset.
class ZeroRunsCore {
 public:
  struct Value {
    std::uint8_t value = 0;
    bool last = false;
  };

  void reset() {
    bytes_.reset();
    line_ = {};
    zeros_ = 0;
    ended_ = false;
  }

  bool ready() const { return bytes_.ready(); }
  bool valid() const { return bytes_.valid(); }
  const Value& byte() const { return bytes_.data(); }

  /// An access of the table's port.
  void load(unsigned address, std::uint8_t data) {
    if (address == 0) {
      longest_ = data % (zero_run_sizes + 1);
    } else {
      bytes_of_[address] = data;
    }
  }

  /// `value`: the one offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Value* value, bool ready) {
    const Place out = line_[0];
    const bool move = bytes_.ready();
    bytes_.step(out.full ? &out.byte : nullptr, ready);
    if (!move) return;
    for (std::size_t p = 0; p + 1 < line_.size(); ++p) line_[p] = line_[p + 1];
    line_.back() = {};
    const unsigned size = 1U << longest_;
    if (zeros_ == longest_zero_run || ended_ || (value && value->value != 0)) {
      // What is left of the run: 1 zero eight places from the end, before it 2, 4 and so on.
      const unsigned left = zeros_ % size;
      for (unsigned i = 0; i < longest_; ++i)
        if ((left >> i & 1) != 0) line_[7 - i] = {true, {run(i), ended_ && std::countr_zero(left) == int(i)}};
      zeros_ = 0;
    }
    if (value && value->value != 0) line_.back() = {true, *value};
    if (value && value->value == 0 && ++zeros_ % size == 0) line_.back() = {true, {run(longest_), value->last}};
    ended_ = value && value->last;
  }

 private:
  struct Place {
    bool full = false;
    Value byte;
  };

  std::uint8_t run(unsigned i) const { return i == 0 ? 0 : bytes_of_[i]; }

  Fifo2Core<Value> bytes_;
  std::array<Place, 9> line_{};  ///< the next to leave first
  std::array<std::uint8_t, zero_run_sizes + 1> bytes_of_{};
  unsigned longest_ = 0, zeros_ = 0;
  bool ended_ = false;
};

}  // namespace narrowgauge::systemc
