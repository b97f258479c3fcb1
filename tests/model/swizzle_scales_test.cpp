// SPDX-License-Identifier: Apache-2.0
// The 128x4 layout of block scales against a second formula, the strides of the layout, and places that NVIDIA's pages
// give as examples.
#include "narrowgauge/quant/swizzle_scales.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {
namespace {

/// Places by strides: a vector's number has digits (tile, 4, 32), a block's (tile, 4).
std::vector<std::uint8_t> by_strides(const std::vector<std::uint8_t>& scales, std::size_t rows, std::size_t blocks) {
  const std::size_t row_tiles = (rows + 127) / 128, block_tiles = (blocks + 3) / 4;
  std::vector<std::uint8_t> layout;
  for (std::size_t i = 0; i < row_tiles; ++i) {
    for (std::size_t j = 0; j < block_tiles; ++j) {
      for (std::size_t line = 0; line < 32; ++line) {
        for (std::size_t quarter = 0; quarter < 4; ++quarter) {
          for (std::size_t b = 0; b < 4; ++b) {
            const std::size_t row = 128 * i + 32 * quarter + line, block = 4 * j + b;
            layout.push_back(row < rows && block < blocks ? scales[row * blocks + block] : std::uint8_t{0});
          }
        }
      }
    }
  }
  return layout;
}

constexpr std::array<std::array<std::size_t, 2>, 14> shapes{{{1, 1},
                                                             {1, 4},
                                                             {127, 3},
                                                             {128, 4},
                                                             {128, 8},
                                                             {129, 5},
                                                             {256, 4},
                                                             {31, 9},
                                                             {32, 1},
                                                             {33, 2},
                                                             {384, 16},
                                                             {200, 200},
                                                             {1000, 7},
                                                             {5, 1023}}};

TEST(SwizzleScales, IsTheOtherFormulaAndComesBack) {
  for (const auto& [rows, blocks] : shapes) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(blocks));
    std::vector<std::uint8_t> scales(rows * blocks);
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<std::uint8_t>(i * 2654435761U >> 13);
    for (const unsigned threads : {1U, 3U}) {
      std::vector<std::uint8_t> layout = swizzle_scales(scales, rows, blocks, threads);
      ASSERT_EQ(layout, by_strides(scales, rows, blocks));
      ASSERT_EQ(layout.size(), swizzled_size(rows, blocks));
      ASSERT_EQ(unswizzle_scales(layout, rows, blocks, threads), scales);
    }
    const std::vector<std::uint8_t> layout = swizzle_scales(scales, rows, blocks);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t block = 0; block < blocks; ++block) {
        ASSERT_EQ(layout[swizzled_offset(row, block, blocks)], scales[row * blocks + block]);
      }
    }
  }
}

TEST(SwizzleScales, PlacesOfNvidiasPages) {
  EXPECT_EQ(swizzled_offset(5, 2, 8), 82U);  // nvmath-python, get_block_scale_offset, a matrix of 128 x 128 in NVFP4
  EXPECT_EQ(swizzled_offset(5, 5, 8), 593U);
  EXPECT_EQ(swizzled_offset(31, 0, 4), 496U);  // cuBLAS, layout of 1D block scaling factors
  EXPECT_EQ(swizzled_offset(32, 0, 4), 4U);
  EXPECT_EQ(swizzled_offset(127, 3, 4), 511U);
}

TEST(SwizzleScales, PaddingIsZeroAndIsNotRead) {
  const std::vector<std::uint8_t> scales(129 * 5, 0x38);
  std::vector<std::uint8_t> layout = swizzle_scales(scales, 129, 5);
  EXPECT_EQ(std::accumulate(layout.begin(), layout.end(), 0U), 129U * 5 * 0x38);
  for (std::uint8_t& byte : layout) byte = byte == 0 ? 0xFF : byte;
  EXPECT_EQ(unswizzle_scales(layout, 129, 5), scales);
}

TEST(SwizzleScales, RefusesSizesThatDoNotFit) {
  const std::vector<std::uint8_t> bytes(512);
  EXPECT_THROW(swizzle_scales(bytes, 128, 5), Error);
  EXPECT_THROW(swizzle_scales(bytes, 0, 4), Error);
  EXPECT_THROW(swizzle_scales({}, 0, 0), Error);
  EXPECT_THROW(unswizzle_scales(bytes, 129, 4), Error);
  EXPECT_THROW(unswizzle_scales(bytes, std::size_t{1} << 60, 16), Error);
  EXPECT_NO_THROW(unswizzle_scales(bytes, 128, 4));
}

}  // namespace
}  // namespace narrowgauge
