// SPDX-License-Identifier: Apache-2.0
// Block scales in the layout that cuBLAS, cuDNN and Blackwell's tensor cores read, known as 128x4 or 32_4_4: tiles of
// 128 vectors and 4 blocks, 512 bytes each, those of the same vectors one after the other. (docs/quantizers.md, Layout
// of block scales)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace narrowgauge {

inline constexpr std::size_t scale_tile_rows = 128, scale_tile_blocks = 4;

/// Bytes of the layout for `rows` vectors of `blocks` scales: both are rounded up to whole tiles.
constexpr std::size_t swizzled_size(std::size_t rows, std::size_t blocks) {
  const std::size_t row_tiles = (rows + scale_tile_rows - 1) / scale_tile_rows;
  const std::size_t block_tiles = (blocks + scale_tile_blocks - 1) / scale_tile_blocks;
  return row_tiles * block_tiles * scale_tile_rows * scale_tile_blocks;
}

/// Where the scale of a block of a vector is, of vectors of `blocks` scales.
constexpr std::size_t swizzled_offset(std::size_t row, std::size_t block, std::size_t blocks) {
  constexpr std::size_t group = 32;  // a tile is 32 lines of 16 bytes; vectors 32 apart share a line
  const std::size_t block_tiles = (blocks + scale_tile_blocks - 1) / scale_tile_blocks;
  const std::size_t tile = row / scale_tile_rows * block_tiles + block / scale_tile_blocks;
  const std::size_t in_tile = row % group * 16 + row % scale_tile_rows / group * scale_tile_blocks;
  return tile * scale_tile_rows * scale_tile_blocks + in_tile + block % scale_tile_blocks;
}

/// `scales` (rows x blocks, a byte each) in the layout; what pads it is 0. Throws Error if sizes do not fit.
std::vector<std::uint8_t> swizzle_scales(std::span<const std::uint8_t> scales, std::size_t rows, std::size_t blocks,
                                         unsigned threads = 0);

/// The rows x blocks scales of a layout, whatever its padding is. Throws Error if sizes do not fit.
std::vector<std::uint8_t> unswizzle_scales(std::span<const std::uint8_t> layout, std::size_t rows, std::size_t blocks,
                                           unsigned threads = 0);

}  // namespace narrowgauge
