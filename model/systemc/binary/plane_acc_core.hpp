// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/binary/ng_plane_acc.sv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "narrowgauge/binary/binary.hpp"

namespace narrowgauge::systemc {

/// Beats of `rows` rows of a matrix with `cols` columns. Outputs are functions of the state; step() is a clock edge.
template <int rows, int cols, int planes, int sum_bits>
class PlaneAccCore {
 public:
  using Planes = std::array<std::uint8_t, static_cast<std::size_t>(planes* rows)>;  ///< a bit in each byte
  using Matrix = std::array<std::int8_t, static_cast<std::size_t>(rows* cols)>;
  using Sums = std::array<std::uint64_t, static_cast<std::size_t>(planes* cols)>;

  void reset() { *this = {}; }

  bool ready() const { return !(valid_ && behind_.valid); }
  bool valid() const { return valid_; }
  /// Sums modulo 2^sum_bits, [plane][column]; meaningful only while valid().
  const Sums& sums() const { return sums_; }

  /// valid: a beat is offered. ready: ready_i.
  void step(bool valid, const Planes& selected, const Matrix& v, bool first, bool last, bool ready) {
    const bool move = this->ready(), taken = valid_ && ready, add = behind_.valid && !valid_;
    const bool begins = ahead_.valid && ahead_.first && !valid_ && !(behind_.valid && behind_.last);
    if (taken || begins) {
      sums_ = {};
    } else if (add) {
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] = (sums_[i] + behind_.sums[i]) & all_bits;
    }
    valid_ = (valid_ && !ready) || (add && behind_.last);
    if (!move) return;
    behind_ = ahead_;
    ahead_ = {.valid = valid, .first = first, .last = last, .sums = {}};
    if (!valid) return;
    const auto beat = plane_sums(selected, v, static_cast<std::size_t>(cols));
    for (std::size_t i = 0; i < beat.size(); ++i) ahead_.sums[i] = static_cast<std::uint64_t>(beat[i]);
  }

 private:
  static constexpr std::uint64_t all_bits = ~std::uint64_t{0} >> (64 - sum_bits);

  /// A beat in a stage.
  struct Stage {
    bool valid = false, first = false, last = false;
    Sums sums{};
  };

  Stage ahead_, behind_;  ///< behind stage 1, behind stage 2
  Sums sums_{};
  bool valid_ = false;
};

}  // namespace narrowgauge::systemc
