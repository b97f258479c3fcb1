// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/format/ng_lfsr.sv.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "narrowgauge/format/random.hpp"

namespace narrowgauge::systemc {

struct LfsrParams {
  int width, bits;
};

/// A word of an LFSR a cycle. Outputs are functions of the state; step() is a clock edge.
template <LfsrParams params>
class LfsrCore {
 public:
  using Word = std::array<std::uint32_t, (params.bits + 31) / 32>;  ///< lowest first

  void reset() { *this = {}; }

  bool valid() const { return valid_; }
  const Word& random() const { return random_; }
  /// After the word offered; 0: none was set.
  std::uint64_t state() const { return running_ ? lfsr_.state() : 0; }

  /// valid: a state is offered. ready: ready_i.
  void step(bool valid, std::uint64_t state, bool ready) {
    if (valid) {
      lfsr_ = narrowgauge::Lfsr(params.width, std::max<std::uint64_t>(state, 1));
      running_ = true;
      valid_ = valid_ && !ready;
    } else if (running_ && (!valid_ || ready)) {
      for (std::size_t i = 0; i < random_.size(); ++i)
        random_[i] = lfsr_.draw(std::min(32, params.bits - static_cast<int>(32 * i)));
      valid_ = true;
    }
  }

 private:
  narrowgauge::Lfsr lfsr_{params.width, 1};
  Word random_{};
  bool running_ = false, valid_ = false;
};

}  // namespace narrowgauge::systemc
