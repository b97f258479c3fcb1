// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/retrieval/ng_maxsim.sv.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "narrowgauge/retrieval/retrieval.hpp"

namespace narrowgauge::systemc {

/// Products of chunks, one a beat. Outputs are functions of the state; step() is a clock edge.
template <int queries>
class MaxsimCore {
 public:
  /// What is offered with valid_i.
  struct Product {
    std::int64_t dot = 0;
    std::size_t query = 0;
    bool first = false, last = false;
  };

  /// The maxima stay, as a RAM's words do.
  void reset() {
    stages_ = {};
    sum_ = score_ = 0;
    valid_ = false;
  }

  bool ready() const { return !(valid_ && stages_[1].valid && stages_[1].last); }
  bool valid() const { return valid_; }
  /// The chunk's score; meaningful only while valid().
  __int128 score() const { return score_; }

  /// valid: a product is offered. ready: ready_i.
  void step(bool valid, const Product& product, bool ready) {
    const bool move = this->ready();
    if (ready) valid_ = false;
    if (!move) return;
    const Stage ended = stages_[1];
    stages_[1] = stages_[0];
    stages_[0] = {.valid = valid, .last = product.last, .gain = 0};
    if (valid) {
      std::int64_t& largest = largest_[product.query];
      stages_[0].gain = max_sim_gain(product.dot, largest, product.first);
      largest = product.first ? product.dot : std::max(product.dot, largest);
    }
    if (!ended.valid) return;
    sum_ += ended.gain;
    if (!ended.last) return;
    valid_ = true;
    score_ = sum_;
    sum_ = 0;
  }

 private:
  struct Stage {
    bool valid = false, last = false;
    __int128 gain = 0;
  };
  std::array<Stage, 2> stages_;  ///< in stages 2 and 3
  std::array<std::int64_t, static_cast<std::size_t>(queries)> largest_{};
  __int128 sum_ = 0, score_ = 0;
  bool valid_ = false;
};

}  // namespace narrowgauge::systemc
