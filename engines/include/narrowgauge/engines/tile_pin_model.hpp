// SPDX-License-Identifier: Apache-2.0
// A simulated ng_tile, cycle by cycle at its pins, whatever simulates it and whatever its parameters.
#pragma once

#include <cstdint>
#include <string_view>

#include "narrowgauge/engines/axi_lite.hpp"

namespace narrowgauge {

/// Parameters of ng_tile, under the name of rtl/tile/configurations.json.
struct TileConfig {
  std::string_view name;
  unsigned rows, cols, lanes, format_set, stream_width, a_depth, b_depth;
  std::uint64_t max_beats;
  bool counters;
  unsigned load_cuts, command_cuts, cell_cuts, convert_cuts, scale_cuts;  ///< masks
  bool requantize;                                                        ///< results can be operand A
  unsigned requantize_cuts;                                               ///< a mask
  bool sparse;                                                            ///< operand A is 2:4 sparse
  unsigned codec;                                                         ///< decoders of compressed loads
  unsigned encoders;                                                      ///< encoders of compressed results
  bool protect;                                                           ///< banks and queues have parity
  bool deadline;                                                          ///< sums can end at one
  bool integers;                                                          ///< results can be INT8
  bool mx;                                                                ///< formats of the set are MX's

  constexpr unsigned products_a_cycle() const { return rows * cols * lanes; }
};

/// The signals of a tile in one cycle, apart from clock and reset. Stream words are little-endian bytes.
struct TilePins {
  axi::LiteSignals bus;
  // Given to the tile.
  bool in_valid = false, in_last = false, out_ready = false;
  const std::uint8_t* in_data = nullptr;  ///< read if in_valid
  // Given by the tile.
  bool in_ready = false, out_valid = false, out_last = false, irq = false;
  const std::uint8_t* out_data = nullptr;  ///< of the model, valid until its next cycle
};

class TilePinModel {
 public:
  virtual ~TilePinModel() = default;
  /// Resets the tile and sets its outputs.
  virtual void reset(TilePins& pins) = 0;
  /// Clock edge with the inputs in `pins`; sets the outputs of the cycle after it. No output follows an input within a
  /// cycle.
  virtual void cycle(TilePins& pins) = 0;
};

/// The entry point of a Verilated tile's library: makes a tile that the caller deletes, with an FST wave to `trace`
/// unless that is empty.
using MakeTile = TilePinModel*(const char* trace);

}  // namespace narrowgauge
