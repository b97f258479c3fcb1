// SPDX-License-Identifier: Apache-2.0
// Directed cases of the tile's bench: results that leave as packets, beside results that leave as they are.
#pragma once

#include "tile_directed.hpp"

namespace narrowgauge::tile_bench {

/// COMPRESS is written while a packet, compressed or not, is stuck on its way out: that one stays what it is, the one
/// behind it is the other, and does not pass it.
inline void compressed_results(Harness& tile) {
  if (!has_encoders) return;
  tile.describe = "results that change between packets and words";
  tile.change_result_code();
  tile.start_counting();
  for (const bool next : {true, false, false, true, true, false}) {
    const double out = std::exchange(tile.pace.out, 0);
    for (const bool second : {false, true}) {
      Command c = tile.random.shaped(std::min(a_depth, 16U), std::min(b_depth, 16U), 1);
      c.irq = tile.rng().chance(0.5);
      const Operands operands(tile, c, Style::finite);
      operands.preload(tile, c);
      tile.push(c);
      if (second) break;
      tile.wait(3000);
      tile.compress_results(next);
    }
    tile.pace.out = out;
    tile.settle();
    tile.bench.vector();
  }
  tile.expect_counters();
  tile.expect_idle();
}

}  // namespace narrowgauge::tile_bench
