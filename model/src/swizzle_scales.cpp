// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/quant/swizzle_scales.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/parallel.hpp"
#include "sizes.hpp"

namespace narrowgauge {
namespace {

constexpr std::size_t most = std::size_t{1} << 40;  // bytes of a layout, so that sizes cannot overflow

void check(std::size_t rows, std::size_t blocks) {
  if (rows > 0 && blocks > 0 && rows <= most / scale_tile_rows && blocks <= most / scale_tile_rows / rows) return;
  throw Error("a layout of block scales was asked for " + std::to_string(rows) + " vectors of " +
              std::to_string(blocks) + " blocks; expected at least one of each, and 2^33 scales at most");
}

/// Calls copy(scale's index, its place, how many) for all runs of up to four scales, tiles of vectors in parallel. How
/// many is a constant for whole runs.
template <class Copy>
void each_run(std::size_t rows, std::size_t blocks, unsigned threads, const Copy& copy) {
  detail::parallel_for((rows + scale_tile_rows - 1) / scale_tile_rows, threads, [&](std::size_t tile) {
    const std::size_t first = tile * scale_tile_rows, last = std::min(first + scale_tile_rows, rows);
    detail::Pace pace;
    for (std::size_t row = first; row < last; ++row) {
      pace(blocks);
      const std::size_t start = swizzled_offset(row, 0, blocks);  // the following tiles are a tile's bytes further on
      std::size_t block = 0;
      for (; block + scale_tile_blocks <= blocks; block += scale_tile_blocks) {
        copy(row * blocks + block, start + block * scale_tile_rows, scale_tile_blocks);
      }
      if (block < blocks) copy(row * blocks + block, start + block * scale_tile_rows, blocks - block);
    }
  });
}

}  // namespace

std::vector<std::uint8_t> swizzle_scales(std::span<const std::uint8_t> scales, std::size_t rows, std::size_t blocks,
                                         unsigned threads) {
  check(rows, blocks);
  if (!detail::is_product(scales.size(), rows, blocks)) {
    throw Error("there are " + std::to_string(scales.size()) + " block scales; expected " +
                std::to_string(rows * blocks) + ", those of " + std::to_string(rows) + " vectors of " +
                std::to_string(blocks) + " blocks");
  }
  std::vector<std::uint8_t> layout(swizzled_size(rows, blocks));
  each_run(rows, blocks, threads, [&](std::size_t from, std::size_t to, std::size_t count) {
    std::memcpy(layout.data() + to, scales.data() + from, count);
  });
  return layout;
}

std::vector<std::uint8_t> unswizzle_scales(std::span<const std::uint8_t> layout, std::size_t rows, std::size_t blocks,
                                           unsigned threads) {
  check(rows, blocks);
  if (layout.size() != swizzled_size(rows, blocks)) {
    throw Error("a layout of block scales has " + std::to_string(layout.size()) + " bytes; expected " +
                std::to_string(swizzled_size(rows, blocks)) + ", those of " + std::to_string(rows) + " vectors of " +
                std::to_string(blocks) + " blocks in whole tiles of 128 x 4");
  }
  std::vector<std::uint8_t> scales(rows * blocks);
  each_run(rows, blocks, threads, [&](std::size_t to, std::size_t from, std::size_t count) {
    std::memcpy(scales.data() + to, layout.data() + from, count);
  });
  return scales;
}

}  // namespace narrowgauge
