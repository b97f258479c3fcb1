// SPDX-License-Identifier: Apache-2.0
// ng_tile against the golden matrix product, from its ports only, as a driver sees it. Random programs under random
// stalls on both streams and on all channels of the bus. Every result, DONE, LOADS, the interrupt in each cycle, and
// the nine counters are compared with what the bench knows; the protocols are checked in each cycle; combinational
// paths between handshake signals are looked for. Then each error is provoked in its variants and left by
// CONTROL.soft_reset, which also comes in the middle of work.
//
// tile_types.hpp       the tile of this build; images, banks, commands
// tile_stimulus.hpp    random ones
// tile_reference.hpp   what the tile must do
// tile_harness.hpp     the tile under clock, and what is compared in each cycle
// tile_programs.hpp    random programs
// tile_directed.hpp    directed cases
// tile_streaming.hpp   commands that start before their banks are complete, banks of A taken in parts
// tile_compressed.hpp  results that leave as packets
// tile_deadline.hpp    commands under a deadline
// tile_errors.hpp      errors
#include "tile_compressed.hpp"
#include "tile_deadline.hpp"
#include "tile_directed.hpp"
#include "tile_errors.hpp"
#include "tile_programs.hpp"
#include "tile_streaming.hpp"

int main(int argc, char** argv) {
  using namespace narrowgauge::tile_bench;
  Harness tile(argc, argv);
  Errors errors(tile);
  tile.reset();
  identity(tile);
  overlapping_accesses(tile);
  latency(tile);
  loads_ahead(tile);
  requantizing(tile);
  integers(tile);
  longest_sum(tile);
  stalls(tile);
  bubbles(tile);
  streaming(tile);
  compressed_results(tile);
  deadlines(tile);
  // Full speed; starved; blocked; all slow; a busy host and a slow bus.
  constexpr Harness::Pace paces[] = {{1, 1, 1}, {0.3, 1, 1}, {1, 0.2, 1}, {0.5, 0.5, 0.5}, {1, 1, 0.2}};
  for (std::uint64_t phase = 0; phase < std::size(paces) || tile.commands < tile.bench.budget(); ++phase) {
    tile.pace = paces[phase % std::size(paces)];
    switch (phase % 8) {
      case 5:
        interrupted_batch(tile);
        break;
      case 7:
        errors.provoke(phase / 8);
        break;
      default:
        batch(tile, 8);
    }
  }
  tile.pace = {};
  for (std::uint64_t variant = 0; variant < Errors::variants; ++variant) errors.provoke(variant);
  errors.sweep();
  errors.sum_too_long();
  errors.metadata();
  if (has_codec) errors.codes();
  batch(tile, 4);
  tile.finish();
  return tile.bench.finish();
}
