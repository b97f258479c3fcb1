// SPDX-License-Identifier: Apache-2.0
// The timing model: how long a matrix product takes on ng_tile under its driver (firmware/src/ng_tile.c), without
// simulating it. The cycle model, which is the tile in every cycle, is in model/systemc.
#pragma once

#include <bit>
#include <cstdint>

#include "narrowgauge/error.hpp"
#include "narrowgauge/quant/format_set.hpp"

namespace narrowgauge::power {

/// The cuts of ng_tile: LoadCuts, CommandCuts, CellCuts, ConvertCuts, ScaleCuts, masks.
struct TileCuts {
  unsigned load = 0, command = 0, cell = 0, convert = 0, scale = 0;
};

/// What the timing of a tile depends on; rtl/tile/ng_tile.sv says what each is.
struct TileShape {
  int rows = 8, cols = 8;  ///< of the array, 1 to 255
  int lanes = 16;          ///< elements of a contraction in a beat, 2 to 510
  int a_row_bits = 72;     ///< of one row of A in an image, scales included
  int b_col_bits = 72;     ///< of one column of B
  int stages = 3;          ///< of the array before its accumulators: 3 with NVFP4 in the set or MX, else 2; and cuts
  int stream_width = 128;  ///< bits of a stream word, a power of two from 32 to 1024
  int a_depth = 512, b_depth = 128;  ///< images in a bank, powers of two from 2 to 32768
  std::int64_t max_beats = 65536;    ///< longest sum
  int load_cuts = 0;                 ///< cycles from a load's turn to its first word that the check of its size takes
  int command_cuts = 0;              ///< cycles more that a command is checked at the head of its queue
  int convert_cuts = 0;              ///< stages more in the conversion of sums
  int scale_cuts = 0;                ///< and from the scaling of results to their words, the stage of INT8 among them
  bool turns = true;                 ///< sums may run backwards along k; those of MX do not

  bool operator==(const TileShape&) const = default;

  /// The tile of these parameters of ng_tile. `set`: a set of formats (format_set). `sparse`: its images, which a dense
  /// product has, too; one with a sparse A is that of twice the lanes in the same images. `integers`: results can be in
  /// INT8, for which all take a stage more. `mx`: the set's formats are MX's.
  static TileShape of(int rows, int cols, int lanes, unsigned set, int stream_width, int a_depth, int b_depth,
                      std::int64_t max_beats = 65536, const TileCuts& cuts = {}, bool sparse = false,
                      bool integers = false, bool mx = false) {
    const bool nvfp4 = (set & format_set::nvfp4) != 0;
    const int elements = lanes * static_cast<int>(format_set::element_bits(set, mx));
    const int bits = elements + (mx ? lanes / 32 * 8 : nvfp4 ? lanes / 16 * 8 : 0);
    // Bit 1 of the cuts in the cells is the place of a stage that is there anyway.
    return {.rows = rows,
            .cols = cols,
            .lanes = lanes,
            .a_row_bits = bits + (sparse ? lanes * 2 : 0),
            .b_col_bits = bits + (sparse ? elements : 0),
            .stages = (nvfp4 || mx ? 3 : 2) + std::popcount(cuts.cell & ~2U),
            .stream_width = stream_width,
            .a_depth = a_depth,
            .b_depth = b_depth,
            .max_beats = max_beats,
            .load_cuts = std::popcount(cuts.load),
            .command_cuts = std::popcount(cuts.command),
            .convert_cuts = std::popcount(cuts.convert),
            .scale_cuts = std::popcount(cuts.scale) + (integers ? 1 : 0),
            .turns = !mx};
  }
  /// Stream words of an image of A, of B.
  std::int64_t a_words() const { return (std::int64_t{rows} * a_row_bits + stream_width - 1) / stream_width; }
  std::int64_t b_words() const { return (std::int64_t{cols} * b_col_bits + stream_width - 1) / stream_width; }
};

/// Throws Error naming the first parameter that no tile can have.
void validate(const TileShape& tile);

/// C (m x n) = A (m x k) x B (k x n).
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool operator==(const GemmShape&) const = default;
};

/// What a product keeps the tile busy with. All but `cycles` are exact counts.
struct GemmWork {
  std::int64_t cycles = 0;                  ///< of ng_tile_gemm, from its call to its return
  std::int64_t beats = 0;                   ///< of the array
  std::int64_t a_images = 0, b_images = 0;  ///< loaded; some more than once
  std::int64_t words_in = 0;                ///< of the operand stream
  std::int64_t words_out = 0;               ///< of the result stream, FP32
  std::int64_t loads = 0, computes = 0;     ///< commands
};

/// The product of `gemm` on `tile`, under the driver as it is: one word of each stream a cycle at most, registers over
/// AXI4-Lite in three cycles an access, waits of 64 cycles at most. Time does not depend on the numbers multiplied.
///
/// The driver's plan is followed command by command and tile by tile, in the cycle in which each of its waits ends;
/// where command follows command in the same rhythm, the rest is multiplied out, so that cost does not grow with the
/// shape. That is done after 8192 cycles, and what is lost is in which of its rounds the driver is when the last result
/// comes: some 65 cycles. Shorter products are exact but where a tile is faster than its driver (docs/explore.md).
///
/// Throws Error for sizes below 1 or above 2^31 - 1, products of more than 2^50 multiplications, and where k is longer
/// than the tile's longest sum.
GemmWork estimate_gemm(const TileShape& tile, const GemmShape& gemm);

}  // namespace narrowgauge::power
