// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/sparse/ng_zap_queue.sv.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

namespace narrowgauge::systemc {

/// A place of a sample a beat, then a row of a pass a beat. Outputs are functions of the state; step() is a clock edge.
template <int columns, int rows, int depth>
class ZapQueueCore {
 public:
  /// What a beat brings.
  struct Place {
    std::uint32_t place = 0;
    std::uint64_t keep = 0;  ///< of each channel whether its output is kept
    bool last = false;       ///< of the sample
  };
  /// A row of a pass, or a sample's end, which has no outputs.
  struct Row {
    std::uint64_t active = 0;  ///< of each column whether its cell has an output
    std::array<std::uint32_t, columns> places{};
    bool pass_last = false;
    bool last = false;  ///< the sample's end
  };

  void reset() {
    for (auto& queue : queues_) queue.clear();
    filling_ = true;
    valid_ = false;
  }

  bool ready() const { return filling_; }
  bool valid() const { return valid_; }
  const Row& result() const { return row_; }

  /// `place`: what is offered, nullptr if valid_i is low. `ready`: ready_i.
  void step(const Place* place, bool ready) {
    const bool room = !valid_ || ready;
    valid_ = valid_ && !ready;
    if (filling_) {
      if (place) take(*place);
    } else if (room) {
      leave();
      valid_ = true;
    }
  }

 private:
  static constexpr auto waits = [](const std::deque<std::uint32_t>& queue) { return !queue.empty(); };

  void take(const Place& place) {
    bool full = false;
    for (std::size_t column = 0; column < columns; ++column) {
      if ((place.keep >> column & 1) == 0) continue;
      queues_[column].push_back(place.place);
      full = full || queues_[column].size() == depth;
    }
    ending_ = place.last;
    filling_ = !full && !ending_;
    left_ = rows;
  }

  /// A row leaves, or a sample's end.
  void leave() {
    row_ = {.pass_last = left_ == 1, .last = ending_ && left_ == rows && std::ranges::none_of(queues_, waits)};
    for (std::size_t column = 0; column < columns; ++column) {
      auto& queue = queues_[column];
      if (queue.empty()) continue;
      row_.active |= std::uint64_t{1} << column;
      row_.places[column] = queue.front();
      queue.pop_front();
    }
    left_ = left_ == 1 ? rows : left_ - 1;
    filling_ = row_.last || (!ending_ && row_.pass_last);
  }

  std::array<std::deque<std::uint32_t>, columns> queues_;
  bool filling_ = true;  ///< places come
  bool ending_ = false;  ///< the sample's last place has come
  int left_ = rows;      ///< rows of the pass
  Row row_;
  bool valid_ = false;  ///< row_ is offered
};

}  // namespace narrowgauge::systemc
