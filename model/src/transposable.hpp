// SPDX-License-Identifier: Apache-2.0
// Transposable masks: what the search for the best one is made of.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace narrowgauge::detail {

/// The rows that keep two of four, column 0 the most significant of a descending order: bit c is column c.
inline constexpr std::array<unsigned, 6> rows_of_two{0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100};

/// The 90 masks of 4 x 4 by the column counts of rows 0 and 1: each pair of rows with these counts goes with each pair
/// of rows 2 and 3 with the complementary ones. A half of a mask is two indices of rows_of_two; halves of a class stand
/// together, in the order of their first row. So the first best mask is the first best class's first best halves.
struct HalvesOfMasks {
  struct Half {
    std::uint8_t first, second;
    std::uint8_t bits;  ///< of both rows, the first one lowest
  };
  static constexpr std::size_t classes = 19, halves = 36;
  std::array<std::uint8_t, classes + 1> begin{};  ///< of a class, in top and in bottom
  std::array<Half, halves> top{}, bottom{};
};

constexpr HalvesOfMasks make_halves_of_masks() {
  HalvesOfMasks result;
  std::size_t classes = 0, end = 0;
  const auto digit = [](unsigned counts, unsigned column) {
    for (; column < 3; ++column) counts /= 3;
    return counts % 3;
  };
  const auto fill = [&](unsigned counts, bool complement, auto& halves) {
    std::size_t at = end;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        bool fits = true;
        for (unsigned c = 0; c < 4; ++c) {
          const unsigned both = (rows_of_two[i] >> c & 1) + (rows_of_two[j] >> c & 1);
          fits = fits && both == (complement ? 2 - digit(counts, c) : digit(counts, c));
        }
        if (!fits) continue;
        halves[at++] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j),
                        static_cast<std::uint8_t>(rows_of_two[i] | rows_of_two[j] << 4)};
      }
    }
    return at;
  };
  for (unsigned counts = 81; counts-- > 0;) {
    const std::size_t after = fill(counts, false, result.top);
    if (after == end) continue;
    fill(counts, true, result.bottom);
    result.begin[classes++] = static_cast<std::uint8_t>(end);
    end = after;
  }
  result.begin[classes] = static_cast<std::uint8_t>(end);
  return result;
}

inline constexpr HalvesOfMasks halves_of_masks = make_halves_of_masks();

}  // namespace narrowgauge::detail
