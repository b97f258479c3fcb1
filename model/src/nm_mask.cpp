// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/sparse/nm_mask.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "narrowgauge/error.hpp"
#include "transposable.hpp"

namespace narrowgauge {
namespace {

using detail::halves_of_masks;
using detail::HalvesOfMasks;
#include "transposable.inc"

/// From the largest down, the lower index first among equals.
std::vector<std::size_t> descending(std::span<const std::uint64_t> magnitudes) {
  std::vector<std::size_t> order(magnitudes.size());
  if (magnitudes.size() <= 64 && std::ranges::max(magnitudes) >> 58 == 0) {  // both fit into a word
    std::array<std::uint64_t, 64> words;
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) words[i] = magnitudes[i] << 6 | (63 - i);
    std::sort(words.begin(), end, std::greater<>());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = 63 - (words[i] & 63);
    return order;
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return magnitudes[a] > magnitudes[b]; });
  return order;
}

void check(int n, int m, int most) {
  if (m < 1 || m > most || n < 1 || n > m) {
    throw Error("sparsity " + std::to_string(n) + ":" + std::to_string(m) + "; expected N from 1 to M, M from 1 to " +
                std::to_string(most));
  }
}

constexpr std::array<std::uint16_t, 90> make_masks_2_4() {
  std::array<std::uint16_t, 90> masks{};
  std::size_t count = 0;
  for (std::size_t k = 0; k < HalvesOfMasks::classes; ++k)
    for (std::size_t i = halves_of_masks.begin[k]; i < halves_of_masks.begin[k + 1]; ++i)
      for (std::size_t j = halves_of_masks.begin[k]; j < halves_of_masks.begin[k + 1]; ++j)
        masks[count++] = static_cast<std::uint16_t>(halves_of_masks.top[i].bits | halves_of_masks.bottom[j].bits << 8);
  return masks;
}

}  // namespace

std::uint64_t greedy_mask(std::span<const std::uint64_t> magnitudes, int n) {
  check(n, static_cast<int>(magnitudes.size()), 64);
  const std::vector<std::size_t> order = descending(magnitudes);
  std::uint64_t mask = 0;
  for (int i = 0; i < n; ++i) mask |= std::uint64_t{1} << order[static_cast<std::size_t>(i)];
  return mask;
}

std::span<const std::uint16_t> transposable_masks_2_4() {
  static constexpr std::array<std::uint16_t, 90> masks = make_masks_2_4();
  return masks;
}

std::uint16_t transposable_mask_2_4(std::span<const std::uint64_t> magnitudes) {
  if (magnitudes.size() != 16)
    throw Error("2:4-T mask of " + std::to_string(magnitudes.size()) + " magnitudes; expected 16, a 4 x 4 block");
  std::int64_t a[16];
  for (std::size_t i = 0; i < 16; ++i) a[i] = static_cast<std::int64_t>(magnitudes[i]);
  return static_cast<std::uint16_t>(best_of_90(a));
}

std::vector<std::uint8_t> transposable_mask_greedy(std::span<const std::uint64_t> magnitudes, int n, int m) {
  check(n, m, 64);
  const auto side = static_cast<std::size_t>(m);
  if (magnitudes.size() != side * side)
    throw Error("transposable mask of " + std::to_string(magnitudes.size()) + " magnitudes; expected " +
                std::to_string(side * side) + ", a square block");
  std::vector<std::uint8_t> mask(side * side);
  std::vector<int> in_row(side), in_column(side);
  for (const std::size_t i : descending(magnitudes)) {
    int& row = in_row[i / side];
    int& column = in_column[i % side];
    if (row == n || column == n) continue;
    mask[i] = 1;
    ++row;
    ++column;
  }
  return mask;
}

std::uint64_t transposable_mask_count(int n, int m) {
  check(n, m, 8);
  // Row by row; what matters of the rows before is how many ones the columns still lack, in any order.
  std::map<std::vector<int>, std::uint64_t> ways{{std::vector<int>(static_cast<std::size_t>(m), n), 1}};
  for (int row = 0; row < m; ++row) {
    std::map<std::vector<int>, std::uint64_t> next;
    for (const auto& [lacking, count] : ways) {
      for (unsigned pattern = 0; pattern < 1U << m; ++pattern) {
        if (std::popcount(pattern) != n) continue;
        std::vector<int> rest = lacking;
        for (int c = 0; c < m; ++c) rest[static_cast<std::size_t>(c)] -= static_cast<int>(pattern >> c & 1);
        if (*std::min_element(rest.begin(), rest.end()) < 0) continue;
        std::sort(rest.begin(), rest.end());
        next[rest] += count;
      }
    }
    ways = std::move(next);
  }
  return ways.begin()->second;
}

double transposable_mask_count_paper(int n, int m) {
  check(n, m, 64);
  double product = 1;
  for (int i = 0; i < n; ++i)
    for (int k = 2; k <= m - i; ++k) product *= k;
  return product;
}

}  // namespace narrowgauge
