// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/retrieval/ng_topk.sv.
#pragma once

#include <vector>

#include "narrowgauge/retrieval/retrieval.hpp"

namespace narrowgauge::systemc {

/// Streams of candidates, one a beat. Outputs are functions of the state; step() is a clock edge.
template <int k>
class TopkCore {
 public:
  void reset() { *this = {}; }

  bool ready() const { return ready_; }
  bool valid() const { return valid_; }
  /// The best of the stream, largest first; meaningful only while valid().
  const std::vector<Candidate>& best() const { return best_; }

  /// valid: a candidate is offered. ready: ready_i.
  void step(bool valid, const Candidate& candidate, bool last, bool ready) {
    const bool push = valid && this->ready();
    const bool clear = valid_ && ready;
    valid_ = last_ || (valid_ && !ready);
    if (taken_) insert_candidate(best_, candidate_, k);
    if (clear) best_.clear();
    ready_ = clear || (ready_ && !(push && last));
    taken_ = push;
    last_ = push && last;
    candidate_ = candidate;
  }

 private:
  std::vector<Candidate> best_;
  Candidate candidate_;  ///< that was compared, and goes to its place with the next edge
  bool taken_ = false;   ///< there is one
  bool last_ = false;    ///< it is its stream's last
  bool ready_ = true;
  bool valid_ = false;
};

}  // namespace narrowgauge::systemc
