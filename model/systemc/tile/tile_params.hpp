// SPDX-License-Identifier: Apache-2.0
// Parameters of rtl/tile/ng_tile.sv, and what travels through its queues (rtl/tile/ng_tile_pkg.sv).
#pragma once

#include <bit>
#include <cstdint>

#include "systemc/mac/mac_array_core.hpp"

namespace narrowgauge::systemc {

struct TileParams {
  int rows = 8, cols = 8, lanes = 16;
  unsigned format_set = narrowgauge::format_set::nvfp4;
  int stream_width = 128;            ///< bits of a stream word, a multiple of 32
  int a_depth = 512, b_depth = 128;  ///< images in a bank, powers of two
  std::int64_t max_beats = 65536;
  bool counters = true;
  unsigned load_cuts = 0, command_cuts = 0, cell_cuts = 0, convert_cuts = 0, scale_cuts = 0;  ///< masks
  bool requantize = false;
  unsigned requantize_cuts = 0;  ///< a mask
  bool sparse = false;           ///< operand A is 2:4 sparse
  int codec = 0;                 ///< decoders of compressed loads
  int encoders = 0;              ///< encoders of compressed results
  bool protect = false;          ///< parity of banks and queues, which is never wrong here
  bool deadline = false;         ///< sums can end at one
  bool integers = false;         ///< results can be in INT8
  bool mx = false;               ///< MX formats: E8M0 scales of 32 elements, sums in FP32

  constexpr MacArrayParams array() const {
    return {.rows = rows,
            .cols = cols,
            .lanes = lanes,
            .format_set = format_set,
            .max_beats = max_beats,
            .cell_cuts = cell_cuts,
            .convert_cuts = convert_cuts,
            .sparse = sparse,
            .mx = mx};
  }
  constexpr int stream_words() const { return stream_width / 32; }
  /// Rows of A or columns of B in an image, and bytes of the elements of one.
  constexpr int vectors(bool b) const { return b ? cols : rows; }
  constexpr int vector_bytes(bool b) const { return (b ? array().b_lanes() : lanes) * array().elem_width() / 8; }
  /// Bytes of the elements in an image; its scales follow them, with the metadata of sparse rows.
  constexpr int element_bytes(bool b) const { return vectors(b) * vector_bytes(b); }
  constexpr int scale_bytes(bool b) const {
    if (!b && sparse) return rows * array().a_blocks() * array().a_block_bytes();
    return array().has_scale() ? vectors(b) * array().blocks() : 0;
  }
  /// Stream words of an image.
  constexpr int image_words(bool b) const {
    return (8 * (element_bytes(b) + scale_bytes(b)) + stream_width - 1) / stream_width;
  }
  /// The tile can be built.
  constexpr bool valid() const {
    const auto depth_fits = [](int depth) {
      return depth >= 2 && depth <= 32768 && std::has_single_bit(static_cast<unsigned>(depth));
    };
    return array().valid() && rows <= 255 && cols <= 255 && lanes <= 255 && stream_width >= 32 &&
           stream_width <= 2040 && stream_width % 32 == 0 && depth_fits(a_depth) && depth_fits(b_depth) &&
           max_beats <= 0x7FFFFFFF && load_cuts <= 1 && command_cuts <= 3 && scale_cuts <= 31 &&
           requantize_cuts <= 127 && !(requantize && (sparse || mx)) && codec >= 0 && codec <= 8 && encoders >= 0 &&
           encoders <= 8 &&
           (!requantize || (lanes <= 128 && std::has_single_bit(unsigned(lanes)) && cols <= lanes &&
                            std::has_single_bit(unsigned(cols)) && stream_width <= 1024 &&
                            std::has_single_bit(unsigned(stream_width))));
  }
};

/// load_t: take `beats` images from the stream.
struct TileLoad {
  bool operand = false;  ///< false A, true B
  bool more = false;     ///< the bank stays open
  bool compressed = false;
  std::uint32_t beats = 0;
};

/// What DEADLINE is written.
struct TileDeadline {
  bool armed = false;        ///< there is one ...
  std::uint32_t clocks = 0;  ///< ... so many clock cycles away, and one
};

/// integer_t: results in INT8.
struct TileInteger {
  bool int8 = false;  ///< where no format of a tile that requantizes comes first
  int zero_point = 0;
};

/// compute_t, requantize_t and integer_t.
struct TileCompute {
  std::uint32_t scale = 0;  ///< FP32 code
  bool bf16 = false;
  std::uint8_t results = 0;        ///< instead, of a tile that requantizes: a set of one format ...
  bool relu = false;               ///< ... rectified ...
  std::uint32_t tensor_scale = 0;  ///< ... with this factor, an FP32 code
  TileInteger integer = {};
  std::uint8_t a_fmt = 0, b_fmt = 0;
  std::uint32_t a_panels = 0, b_panels = 0, beats = 0;
  std::uint32_t rows = 0, cols = 0;  ///< in use in the last panels
  bool part_a = false, irq = false, release_b = false, release_a = false, last = false, first = false;
};

/// job_t, requantize_job_t and integer_t: a tile of results on its way out.
struct TileJob {
  std::uint32_t scale = 0;
  bool bf16 = false, irq = false, final_tile = false;
  std::uint8_t results = 0;        ///< instead: a set of one format ...
  bool relu = false;               ///< ... rectified ...
  std::uint32_t tensor_scale = 0;  ///< ... with this factor
  bool row_end = false;            ///< no tile of the command stands beside it on the right
  TileInteger integer = {};
};

/// The activity counters, in the order of their registers.
struct TileCounters {
  std::uint64_t cycles = 0, busy = 0, stall_in = 0, stall_out = 0, products = 0;
  std::uint64_t zero_a = 0, zero_b = 0, flips_a = 0, flips_b = 0;
};

}  // namespace narrowgauge::systemc
