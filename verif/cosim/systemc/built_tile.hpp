// SPDX-License-Identifier: Apache-2.0
// The tile that a bench is built for, from its build parameters: NG_ROWS, NG_COLS, NG_LANES, NG_FORMAT_SET,
// NG_STREAM_WIDTH, NG_A_DEPTH, NG_B_DEPTH, NG_MAX_BEATS, NG_COUNTERS, NG_REQUANTIZE, NG_SPARSE, NG_CODEC, NG_ENCODERS,
// NG_PROTECT, NG_DEADLINE, NG_INTEGERS, NG_MX, and the masks of its cuts, NG_LOAD_CUTS, NG_COMMAND_CUTS, NG_CELL_CUTS,
// NG_CONVERT_CUTS, NG_SCALE_CUTS and NG_REQUANTIZE_CUTS, which the bench of a part of the tile without cuts does not
// have.
#pragma once

#ifndef NG_CONVERT_CUTS
#define NG_LOAD_CUTS 0
#define NG_COMMAND_CUTS 0
#define NG_CELL_CUTS 0
#define NG_CONVERT_CUTS 0
#define NG_SCALE_CUTS 0
#define NG_REQUANTIZE_CUTS 0
#endif

#include "systemc/tile/tile_params.hpp"

namespace narrowgauge::bench {

inline constexpr systemc::TileParams built_tile{.rows = NG_ROWS,
                                                .cols = NG_COLS,
                                                .lanes = NG_LANES,
                                                .format_set = NG_FORMAT_SET,
                                                .stream_width = NG_STREAM_WIDTH,
                                                .a_depth = NG_A_DEPTH,
                                                .b_depth = NG_B_DEPTH,
                                                .max_beats = NG_MAX_BEATS,
                                                .counters = NG_COUNTERS != 0,
                                                .load_cuts = NG_LOAD_CUTS,
                                                .command_cuts = NG_COMMAND_CUTS,
                                                .cell_cuts = NG_CELL_CUTS,
                                                .convert_cuts = NG_CONVERT_CUTS,
                                                .scale_cuts = NG_SCALE_CUTS,
                                                .requantize = NG_REQUANTIZE != 0,
                                                .requantize_cuts = NG_REQUANTIZE_CUTS,
                                                .sparse = NG_SPARSE != 0,
                                                .codec = NG_CODEC,
                                                .encoders = NG_ENCODERS,
                                                .protect = NG_PROTECT != 0,
                                                .deadline = NG_DEADLINE != 0,
                                                .integers = NG_INTEGERS != 0,
                                                .mx = NG_MX != 0};

}  // namespace narrowgauge::bench
