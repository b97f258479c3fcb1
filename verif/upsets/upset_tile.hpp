// SPDX-License-Identifier: Apache-2.0
// The Verilated tile with its registers and memories in reach, so that one bit of them can be flipped while it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/engines/tile_pin_model.hpp"

namespace narrowgauge::upsets {

/// A register, or a memory of several words.
struct Register {
  std::string name;    ///< below the tile: u_array.u_queue.data_o
  std::string block;   ///< of the tables
  unsigned width = 0;  ///< bits of a word, those that are no flip-flops included
  unsigned words = 1;
  std::vector<unsigned> bits;  ///< of a word, that hardware has

  std::uint64_t size() const { return std::uint64_t{words} * bits.size(); }
};

/// All of the tile, in the order of their names.
const std::vector<Register>& registers();

/// One bit that flips in one cycle.
struct Flip {
  std::size_t which = 0;  ///< of registers()
  unsigned word = 0, bit = 0;
  std::uint64_t cycle = 0;  ///< since the reset of the model
};

/// Thrown in the cycle that a run may not reach.
struct TooLong : std::runtime_error {
  TooLong() : std::runtime_error("the run takes too many cycles") {}
};

class UpsetTile : public TilePinModel {
 public:
  /// For runs from the next reset on.
  virtual void arm(const Flip& flip, std::uint64_t most_cycles) = 0;
  virtual void disarm() = 0;
  /// The bit that an armed flip would flip, now.
  virtual bool bit(const Flip& flip) const = 0;
};

/// A tile of its own for a thread.
std::unique_ptr<UpsetTile> make_upset_tile();

}  // namespace narrowgauge::upsets
