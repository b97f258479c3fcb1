// SPDX-License-Identifier: Apache-2.0
// The room in a unit: what it has taken and not given yet says in every cycle whether its ready has to be high, may be
// either, or has to be low. A unit that refuses a beat although it has room for it computes nothing wrong, so no
// comparison of results sees that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "bench.hpp"

namespace narrowgauge::bench {

/// Things that a unit holds: beats, rows, images. A bench counts each when the unit takes it and when it frees the
/// place.
class Room {
 public:
  /// The `most` of a unit whose depth shows in wrong results only.
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  /// ready has to be high while the unit holds fewer than `sure` things, and low while it holds `most` or more. `what`
  /// completes "ready is low with room for 2 ...".
  Room(Bench& bench, std::string what, std::uint64_t sure, std::uint64_t most)
      : bench_(bench), what_(std::move(what)), sure_(sure), most_(most) {}
  /// A unit with so many places, of which the bench knows in every cycle how many are free.
  Room(Bench& bench, std::string what, std::uint64_t places) : Room(bench, std::move(what), places, places) {}

  void take(std::uint64_t count = 1) { held_ += count; }
  void give(std::uint64_t count = 1) {
    bench_.expect(count <= held_, [&] { return what_ + ": more left than came"; });
    held_ -= std::min(count, held_);
  }
  /// A reset.
  void clear() { held_ = 0; }

  /// Once per cycle, before the clock edge and before what the edge takes or gives is counted.
  void check(bool ready) const {
    bench_.expect(ready || held_ >= sure_,
                  [&] { return "ready is low with room for " + std::to_string(sure_ - held_) + " " + what_; });
    bench_.expect(!ready || held_ < most_,
                  [&] { return "ready is high with " + std::to_string(held_) + " " + what_ + " inside"; });
  }

  std::uint64_t held() const { return held_; }

 private:
  Bench& bench_;
  std::string what_;
  std::uint64_t sure_, most_, held_ = 0;
};

}  // namespace narrowgauge::bench
