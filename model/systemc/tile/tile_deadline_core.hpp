// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_deadline.sv.
#pragma once

#include <algorithm>
#include <cstdint>

#include "systemc/tile/tile_params.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge.
class TileDeadlineCore {
 public:
  void reset() { *this = {}; }

  bool late() const { return late_; }
  std::uint32_t beats() const { return beats_; }

  /// `start`: what DEADLINE was written, or nullptr.
  void step(const TileDeadline* start, bool beat) {
    if (start) {
      *this = {};
      if (start->armed) left_ = start->clocks + std::uint64_t{1};
    } else {
      skip(1);
      beats_ = (beats_ + beat) & 0x7FFFFFFF;
    }
  }

  /// So many clock edges, without a beat.
  void skip(std::uint64_t cycles) {
    late_ = late_ || (left_ != 0 && left_ <= cycles);
    left_ -= std::min(left_, cycles);
  }

 private:
  std::uint64_t left_ = 0;  // cycles until it is past; 0: it is, or there is none
  bool late_ = false;
  std::uint32_t beats_ = 0;
};

}  // namespace narrowgauge::systemc
